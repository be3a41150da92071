package org.sparkzorder.command

import java.io.IOException

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.{ArrayType, DataType, StructType}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.errors.{FailedRead, ZOrderErrors}
import org.sparkzorder.table.NamedJobs

/** A command that the SQL tab of Spark's UI shows as its statement, such as `OPTIMIZE t`. */
private[command] trait NamedCommand extends LeafRunnableCommand {

  /** As people write it, such as `OPTIMIZE t`. */
  def title: String

  override def nodeName: String = title

  protected def resultColumns: StructType = new StructType()

  override lazy val output: Seq[Attribute] = toAttributes(resultColumns)

  override final def run(session: SparkSession): Seq[Row] = {
    val context = session.asInstanceOf[ClassicSession].sparkContext
    NamedJobs.named(context, title)(work(session))
  }

  protected def work(session: SparkSession): Seq[Row]
}

private[command] object NamedCommand {

  /** Columns of a result, such as `columns("path" -> StringType, "name?" -> StringType)`: `name` may be null. */
  def columns(of: (String, DataType)*): StructType = of.foldLeft(new StructType()) { case (all, (name, dataType)) =>
    all.add(name.stripSuffix("?"), dataType, nullable = name.endsWith("?"))
  }

  def list(of: DataType): ArrayType = ArrayType(of, containsNull = false)
}

/**
 * A command that may take long: it reports its progress ([[RunningStatements]]), and the SQL tab
 * shows numbers at its node.
 */
private[command] trait LongCommand extends NamedCommand {

  def operation: String
  def tableName: String

  override def title: String = s"$operation $tableName"

  /** The numbers at the node of the SQL tab. Those whose names begin with `size of` count bytes. */
  protected def metricNames: Seq[String]

  override lazy val metrics: Map[String, SQLMetric] = {
    val context = SparkOwn.activeContext
    metricNames.map { name =>
      val isSize = name.startsWith("size of ")
      name -> (if (isSize) SQLMetrics.createSizeMetric(context, name) else SQLMetrics.createMetric(context, name))
    }.toMap
  }

  /** Shows numbers at the node, in the order of their names. */
  protected def show(session: SparkSession, values: Long*): Unit = {
    val context = session.asInstanceOf[ClassicSession].sparkContext
    metricNames.zip(values).foreach { case (name, value) => metrics(name).set(value) }
    val execution = context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    if (execution != null) SQLMetrics.postDriverMetricUpdates(context, execution, metrics.values.toVector)
  }

  /** An exception of a file system that comes to here is of work that changed nothing, see [[TableLocking]]. */
  override protected final def work(session: SparkSession): Seq[Row] =
    try RunningStatements.during(session.asInstanceOf[ClassicSession], operation, tableName)(reported(session))
    catch {
      case e: IOException          => throw ZOrderErrors.operationFailed(operation, tableName, e)
      case FailedRead(file, cause) => throw ZOrderErrors.failedRead(operation, tableName, file, cause)
    }

  protected def reported(session: SparkSession): Seq[Row]
}
