package org.sparkzorder.write.zeros

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy, UnaryExecNode}
import org.apache.spark.sql.types.StructType

/**
 * Returns the rows of the child unchanged, and notes for the task that reads them which columns have
 * zeros, see [[NotedZeros.of]]. It stands below a sort, which reads all rows before it gives the
 * first. So the writer above the sort knows it before it begins a file.
 *
 * @param data the fields with which rows begin
 */
private[write] final case class NotedZeros(data: StructType, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def stringArgs: Iterator[Any] = Iterator.empty
  override protected def withNewChildInternal(newChild: LogicalPlan): NotedZeros = copy(child = newChild)
}

/** Runs [[NotedZeros]]. */
private[write] final case class NotedZerosExec(data: StructType, child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def stringArgs: Iterator[Any] = Iterator.empty
  override protected def doExecute(): RDD[InternalRow] = NotedZeros.noted(child.execute(), data)
  override protected def withNewChildInternal(newChild: SparkPlan): NotedZerosExec = copy(child = newChild)
}

private[write] object NotedZeros {

  /** By the id of the task attempt. An attempt runs in one thread, and takes its notes away. */
  private val ofTasks = new ConcurrentHashMap[Long, NegativeZeros]

  /**
   * Which leaves have zeros in the rows that this task has read so far. None if its plan has no
   * [[NotedZeros]].
   */
  def of(task: TaskContext): Option[ZerosFound] = Option(ofTasks.get(task.taskAttemptId())).map(_.found)

  // Made in this object, so that the closure does not contain a plan.
  private[write] def noted(rows: RDD[InternalRow], data: StructType): RDD[InternalRow] = rows.mapPartitions(
    rows => {
      val zeros = new NegativeZeros(data)
      val task = TaskContext.get()
      ofTasks.put(task.taskAttemptId(), zeros)
      task.addTaskCompletionListener[Unit](_ => { ofTasks.remove(task.taskAttemptId()); () })
      rows.map { row =>
        zeros.add(row)
        row
      }
    },
    preservesPartitioning = true
  )
}

/** Plans [[NotedZeros]] in the sessions of rewrites. */
private[write] object NotedZerosStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case NotedZeros(data, child) => NotedZerosExec(data, planLater(child)) :: Nil
    case _                       => Nil
  }
}
