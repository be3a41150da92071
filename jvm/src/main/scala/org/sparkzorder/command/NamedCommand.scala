package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.table.NamedJobs

/** A command that the SQL tab of Spark's UI shows as its statement, such as `OPTIMIZE t`. */
private[command] trait NamedCommand extends LeafRunnableCommand {

  /** As people write it, such as `OPTIMIZE t`. */
  def title: String

  override def nodeName: String = title

  override final def run(session: SparkSession): Seq[Row] = {
    val context = session.asInstanceOf[ClassicSession].sparkContext
    NamedJobs.named(context, title)(work(session))
  }

  protected def work(session: SparkSession): Seq[Row]
}

/**
 * A command that may take long: it reports its progress ([[RunningStatements]]), and the SQL tab
 * shows numbers at its node.
 */
private[command] trait LongCommand extends NamedCommand {
  import LongCommand._

  /** Such as `OPTIMIZE`. */
  def operation: String

  /** The table, as the statement names it. */
  def tableName: String

  override def title: String = s"$operation $tableName"

  /** The numbers at the node of the SQL tab, as its columns of `work` call them. */
  protected def metricNames: Seq[Metric]

  override lazy val metrics: Map[String, SQLMetric] = {
    val context = SparkOwn.activeContext
    metricNames.map {
      case Metric(name, isSize) =>
        name -> (if (isSize) SQLMetrics.createSizeMetric(context, name) else SQLMetrics.createMetric(context, name))
    }.toMap
  }

  /** Shows numbers at the node. */
  protected def show(session: SparkSession, values: (String, Long)*): Unit = {
    val context = session.asInstanceOf[ClassicSession].sparkContext
    values.foreach { case (name, value) => metrics(name).set(value) }
    val execution = context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    if (execution != null) SQLMetrics.postDriverMetricUpdates(context, execution, metrics.values.toVector)
  }

  override protected final def work(session: SparkSession): Seq[Row] =
    RunningStatements.during(session.asInstanceOf[ClassicSession], operation, tableName)(reported(session))

  protected def reported(session: SparkSession): Seq[Row]
}

private[command] object LongCommand {

  /** @param isSize whether it counts bytes */
  final case class Metric(name: String, isSize: Boolean = false)
}
