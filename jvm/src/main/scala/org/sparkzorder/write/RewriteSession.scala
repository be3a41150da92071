package org.sparkzorder.write

import scala.reflect.ClassTag

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.{SparkSession => Session}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{QueryExecution, SQLExecution, SparkPlan, SparkStrategy}

import org.sparkzorder.conf.SessionCopy

/** Sessions for rewrites: with the caller's settings, except those that could change rows or the number of files. */
object RewriteSession {

  // Adaptive execution would merge small partitions, and so files. A file that cannot be read must fail the rewrite, or
  // its rows would be lost. Padding on read would change stored values. A damaged value would get a checksum that fits.
  private val fixed = Map(
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.files.ignoreCorruptFiles" -> "false",
    "spark.sql.files.ignoreMissingFiles" -> "false",
    "spark.sql.readSideCharPadding" -> "false",
    "parquet.page.verify-checksum.enabled" -> "true",
    "spark.sql.parquet.datetimeRebaseModeInWrite" -> "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite" -> "CORRECTED"
  )

  /** @param overrides settings that win over the caller's, but not over the fixed ones */
  def of(caller: SparkSession, overrides: Map[String, String]): SparkSession = {
    // The two jobs must see the same splits, even when executors come and go in between.
    val splits = "spark.sql.files.minPartitionNum"
    val parallelism = splits -> caller.sparkContext.defaultParallelism.toString
    SessionCopy.of(
      caller,
      Map(parallelism).filterNot(s => caller.sessionState.conf.contains(s._1)) ++ overrides ++ fixed
    )
  }

  private[sparkzorder] def active[T](session: Session)(body: => T): T = {
    val before = Session.getActiveSession
    Session.setActiveSession(session)
    try body
    finally before.fold(Session.clearActiveSession())(Session.setActiveSession)
  }

  /** The options of a read that skips no file, whatever the table and the active session say. */
  def safeReadOptions(options: Map[String, String]): Map[String, String] = {
    val skipping = Seq("ignoreCorruptFiles", "ignoreMissingFiles")
    options.filterNot { case (key, _) => skipping.exists(_.equalsIgnoreCase(key)) } ++ skipping.map(_ -> "false")
  }
}

/** Runs the queries of one rewrite, which Spark's UI shows as `description: step`. */
private[write] final class RewriteQueries(session: SparkSession, description: String) {

  def planned(plan: LogicalPlan): QueryExecution = RewriteSession.active(session) {
    val execution = session.sessionState.executePlan(plan)
    execution.assertAnalyzed()
    execution
  }

  /**
   * The results of the tasks, in the order of the partitions. The caller's job group and other local settings stay.
   *
   * @param ended called for each task that has ended, with the number of all tasks and its result
   * @param partitions those to run, by the number of all partitions
   */
  def run[T: ClassTag](
      step: String,
      query: QueryExecution,
      ended: (Int, T) => Unit = (_: Int, _: T) => (),
      partitions: Int => Seq[Int] = 0 until _
  )(task: (TaskContext, Iterator[InternalRow]) => T): Seq[T] = {
    val name = s"$description: $step"
    RewriteQueries.described(session.sparkContext, name) {
      SQLExecution.withNewExecutionId(query, Some(name)) {
        val rdd = query.toRdd
        val tasks = partitions(rdd.getNumPartitions)
        val results = new Array[T](tasks.size)
        def keep(i: Int, result: T): Unit = {
          results(i) = result
          ended(tasks.size, result)
        }
        rdd.sparkContext.runJob(rdd, task, tasks, keep _)
        results.toSeq
      }
    }
  }
}

private[write] object RewriteQueries {

  def described[T](context: SparkContext, description: String)(jobs: => T): T = {
    val before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(description)
    try jobs
    finally context.setJobDescription(before)
  }
}

/**
 * A step of a rewrite that runs as a node of ours, between those of Spark. It needs all columns of the child.
 *
 * @param exec makes the node from that of the child
 */
private[write] final case class RewriteStep(output: Seq[Attribute], child: LogicalPlan, exec: SparkPlan => SparkPlan)
    extends UnaryNode {
  @transient override lazy val references: AttributeSet = child.outputSet
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  override protected def withNewChildInternal(newChild: LogicalPlan): RewriteStep = copy(child = newChild)
}

private[write] object RewriteStepStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case RewriteStep(_, child, exec) => exec(planLater(child)) :: Nil
    case _                           => Nil
  }
}
