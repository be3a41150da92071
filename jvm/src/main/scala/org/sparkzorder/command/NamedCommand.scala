package org.sparkzorder.command

import java.util.concurrent.{ConcurrentHashMap, Executors, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.google.common.util.concurrent.ThreadFactoryBuilder
import org.apache.spark.internal.Logging
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.{ArrayType, DataType, StructType}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.compat._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.progress.{ProgressSnapshot, StatementProgress}
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

  override protected final def work(session: SparkSession): Seq[Row] =
    RunningStatements.during(session.asInstanceOf[ClassicSession], operation, tableName)(reported(session))

  protected def reported(session: SparkSession): Seq[Row]
}

/**
 * The statements of this application that run now. While one does, a line goes to the log every ten
 * seconds, and where Spark draws its own progress bar, one bar for the whole statement is drawn
 * instead. `spark.zorder.progress.enabled` set to false silences both.
 */
private[command] object RunningStatements extends Logging {
  private val LogSeconds = 10L
  private val BarMillis = 200L

  private final class Running(val session: ClassicSession, val progress: StatementProgress)

  private val running = ConcurrentHashMap.newKeySet[Running]()

  private lazy val timer = Executors.newScheduledThreadPool(
    1,
    new ThreadFactoryBuilder().setDaemon(true).setNameFormat("zorder-progress").build()
  )

  /** The statements that a session runs now, the oldest first. */
  def of(session: ClassicSession): Seq[ProgressSnapshot] =
    running.asScala.toSeq.filter(_.session eq session).map(_.progress.snapshot).sortBy(-_.millis)

  /** Runs a statement, whose work may report to [[StatementProgress.current]]. */
  def during[T](session: ClassicSession, operation: String, table: String)(work: => T): T = {
    val progress = new StatementProgress(operation, table)
    val own = new Running(session, progress)
    val shown = if (session.sessionState.conf.getConf(ZOrderConf.progressEnabled)) watch(session, progress) else Nil
    running.add(own)
    try StatementProgress.during(Some(progress))(work)
    finally {
      running.remove(own)
      shown.foreach(_())
    }
  }

  private def watch(session: ClassicSession, progress: StatementProgress): Seq[() => Unit] = {
    val line = every(LogSeconds * 1000)(logInfo(ProgressText.line(progress.snapshot)))
    val bar = Option.when(SparkOwn.drawsProgressBar(session.sparkContext)) {
      val bar = new ConsoleBar(session.sparkContext, System.err)
      val drawing = every(BarMillis)(bar.draw(progress.snapshot))
      () => { drawing(); bar.clear() }
    }
    line +: bar.toSeq
  }

  private def every(millis: Long)(show: => Unit): () => Unit = {
    val task: Runnable = () =>
      try show
      // A task that throws would never run again, and the statement must not fail for a picture.
      catch { case NonFatal(e) => logDebug("cannot show the progress", e) }
    val timed = timer.scheduleWithFixedDelay(task, millis, millis, TimeUnit.MILLISECONDS)
    () => { timed.cancel(false); () }
  }
}
