package org.sparkzorder.write

import scala.reflect.ClassTag

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{QueryExecution, SQLExecution}

/** Runs the queries of one rewrite, which Spark's UI shows as `description: step`. */
private[write] final class RewriteQueries(session: SparkSession, description: String) {

  def planned(plan: LogicalPlan): QueryExecution = RewriteSession.active(session) {
    val execution = session.sessionState.executePlan(plan)
    execution.assertAnalyzed()
    execution
  }

  /**
   * The results of the tasks, in the order of the partitions. The caller's job group and other
   * local settings stay.
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

  /** Runs jobs under this description, and then puts back the one that was set before. */
  def described[T](context: SparkContext, description: String)(jobs: => T): T = {
    val before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(description)
    try jobs
    finally context.setJobDescription(before)
  }
}
