package org.sparkzorder.insert

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand

/**
 * Marks a write whose query is in an order that the user wants. The optimizer removes a sort of rows that are sorted
 * already, so it must be seen before.
 */
object OwnOrder extends Rule[LogicalPlan] {
  private[insert] val Tag = TreeNodeTag[String]("zorder.own-order")

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case i: InsertIntoHadoopFsRelationCommand => of(i.query).foreach(i.setTagValue(Tag, _))
      case u: Union                             => u.children.foreach(apply)
      case _                                    => ()
    }
    plan
  }

  private def of(plan: LogicalPlan): Option[String] = plan match {
    case _: Sort                                                          => Some("an order")
    case r: RepartitionOperation if r.shuffle                             => Some("a REPARTITION")
    case _: RebalancePartitions                                           => Some("a REBALANCE")
    case w: WithCTE                                                       => of(w.plan)
    case _: GlobalLimit | _: LocalLimit | _: Offset | _: View             => of(plan.children.head)
    case _: Project | _: SubqueryAlias | _: OrderedTable | _: Repartition => of(plan.children.head)
    case _                                                                => None
  }
}
