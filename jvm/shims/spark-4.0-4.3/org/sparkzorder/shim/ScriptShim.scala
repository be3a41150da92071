package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.plans.logical.{CompoundBody, CompoundPlanStatement, LogicalPlan, SingleStatement}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin

/** SQL scripts, which Spark has since 4.0. */
object ScriptShim {
  val hasScripts: Boolean = true

  /**
   * A script with other plans for some of its statements, those in loops, branches and handlers
   * included.
   *
   * @param plans by the place at which a statement begins, in code points
   * @param text what the script says, for messages that quote a statement
   */
  def replaced(script: LogicalPlan, plans: Map[Int, ScriptStatement], text: String): LogicalPlan = {
    def body(old: CompoundBody): CompoundBody = old.copy(
      collection = old.collection.map(of(_).asInstanceOf[CompoundPlanStatement]),
      handlers = old.handlers.map(handler => handler.copy(body = body(handler.body)))
    )
    def of(plan: LogicalPlan): LogicalPlan = plan match {
      // Spark loses a block's handlers when it gets new children.
      case block: CompoundBody  => CurrentOrigin.withOrigin(block.origin)(body(block))
      case old: SingleStatement => old.origin.startIndex.flatMap(plans.get).fold(old)(statement(old, _, text))
      case other                => other.mapChildren(of)
    }
    of(script)
  }

  private def statement(old: SingleStatement, ours: ScriptStatement, text: String): SingleStatement = {
    val stop = old.origin.startIndex.map(_ + ours.length - 1)
    CurrentOrigin.withOrigin(old.origin.copy(stopIndex = stop, sqlText = Some(text)))(SingleStatement(ours.plan))
  }
}

/** @param length of the statement's text, in code points */
final case class ScriptStatement(plan: LogicalPlan, length: Int)
