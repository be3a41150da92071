package org.sparkzorder.write.rows

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{ColumnarToRowTransition, SparkPlan, SparkStrategy}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch

import org.sparkzorder.write.PassesBatches

/**
 * The rows of a relation unchanged. If its files are read in batches, [[BatchRows]] makes the rows.
 *
 * @param child a relation, with its rows hashed or not
 */
private[write] final case class ColumnsToRows(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): ColumnsToRows = copy(child = newChild)
}

private[write] object ColumnsToRows {

  /** The relation itself if it has a type that is not covered. Spark makes the rows then. */
  def of(relation: LogicalPlan): LogicalPlan =
    if (BatchRows.canMake(relation.schema)) ColumnsToRows(relation) else relation
}

/** Runs [[ColumnsToRows]]. Spark puts no conversion of its own between a transition and its child. */
private[write] final case class ColumnsToRowsExec(child: SparkPlan) extends ColumnarToRowTransition {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] =
    if (child.supportsColumnar) ColumnsToRowsExec.rows(child.executeColumnar(), child.schema) else child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): ColumnsToRowsExec = copy(child = newChild)
}

private object ColumnsToRowsExec {

  // Made in this object, so that the closure does not contain a plan.
  private def rows(batches: RDD[ColumnarBatch], schema: StructType): RDD[InternalRow] =
    batches.mapPartitions { batches =>
      val rows = BatchRows.of(schema)
      batches.flatMap(rows.of)
    }
}

/** Plans [[ColumnsToRows]] in the sessions of rewrites. */
private[write] object ColumnsToRowsStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case ColumnsToRows(child) if givesBatches(child) => ColumnsToRowsExec(planLater(child)) :: Nil
    // A rule of another extension has put something in between, which takes rows.
    case ColumnsToRows(child) => planLater(child) :: Nil
    case _                    => Nil
  }

  private def givesBatches(plan: LogicalPlan): Boolean =
    plan.children.forall(child => plan.isInstanceOf[PassesBatches] && givesBatches(child))
}
