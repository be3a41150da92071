package org.sparkzorder.write

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

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

/** Plans [[RewriteStep]] in the sessions of rewrites. */
private[write] object RewriteStepStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case RewriteStep(_, child, exec) => exec(planLater(child)) :: Nil
    case _                           => Nil
  }
}
