package org.sparkzorder.repartition

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreePattern.{REPARTITION_OPERATION, TreePattern}

/**
 * Rows in so many partitions along a curve: what a hint says, until its names are resolved and [[ResolveRepartition]]
 * says it in Spark's own operators.
 *
 * @param hint name of the hint, in upper case
 * @param curve one of those of [[org.sparkzorder.layout.LayoutSpec]]
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
