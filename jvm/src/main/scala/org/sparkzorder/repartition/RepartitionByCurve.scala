package org.sparkzorder.repartition

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreePattern.{REPARTITION_OPERATION, TreePattern}

/**
 * A hint in the plan: put the rows in so many partitions along a curve. When its names are
 * resolved, [[ResolveRepartition]] replaces it by Spark's own operators.
 *
 * @param hint the hint's name, in upper case
 * @param curve one of the curves of [[org.sparkzorder.layout.LayoutSpec]]
 */
final case class RepartitionByCurve(
    hint: String,
    curve: String,
    partitions: Int,
    keys: Seq[Expression],
    child: LogicalPlan
) extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  override val nodePatterns: Seq[TreePattern] = Seq(REPARTITION_OPERATION)

  override protected def withNewChildInternal(newChild: LogicalPlan): RepartitionByCurve = copy(child = newChild)
}
