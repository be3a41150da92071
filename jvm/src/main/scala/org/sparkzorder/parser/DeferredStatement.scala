package org.sparkzorder.parser

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * A statement of a SQL script, which is parsed when the script comes to it. Whose statement it is
 * depends on its table, and an earlier statement of the script may create that table.
 */
final case class DeferredStatement(sql: String)(val parse: String => LogicalPlan) extends LeafNode {
  override def output: Seq[Attribute] = Nil
  override lazy val resolved: Boolean = false
  override protected def otherCopyArgs: Seq[AnyRef] = parse :: Nil
}

object ParseDeferredStatement extends Rule[LogicalPlan] {
  // A script with parameters has each of its statements below a plan with their values.
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case deferred: DeferredStatement => deferred.parse(deferred.sql)
  }
}
