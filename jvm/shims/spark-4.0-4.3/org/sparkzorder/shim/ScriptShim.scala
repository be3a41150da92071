package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.{CompoundBody, CompoundPlanStatement, LogicalPlan, SingleStatement}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.types.LongType

/** SQL scripts, which Spark has since 4.0. */
object ScriptShim {
  val hasScripts: Boolean = true

  /**
   * A script with other plans for some of its statements, those in loops, branches and handlers
   * included.
   *
   * @param plans by the number that their placeholder selects
   * @param text what the script says, for messages that quote a statement
   * @return None if not each of the placeholders is a statement of the script, once
   */
  def replaced(script: LogicalPlan, plans: Map[Long, ScriptStatement], text: String): Option[LogicalPlan] = {
    val found = scala.collection.mutable.ArrayBuffer.empty[Long]
    def ours(old: SingleStatement): Option[ScriptStatement] = selected(old).flatMap { mark =>
      plans.get(mark).map { plan => found += mark; plan }
    }
    def body(old: CompoundBody): CompoundBody = old.copy(
      collection = old.collection.map(of(_).asInstanceOf[CompoundPlanStatement]),
      handlers = old.handlers.map(handler => handler.copy(body = body(handler.body)))
    )
    def of(plan: LogicalPlan): LogicalPlan = plan match {
      // Spark loses a block's handlers when it gets new children.
      case block: CompoundBody  => CurrentOrigin.withOrigin(block.origin)(body(block))
      case old: SingleStatement => ours(old).fold(old)(statement(old, _, text))
      case other                => other.mapChildren(of)
    }
    val made = of(script)
    Option.when(found.sorted == plans.keys.toSeq.sorted)(made)
  }

  /** The number of a statement such as `SELECT 1234567890123456789`. */
  private def selected(statement: SingleStatement): Option[Long] =
    statement.parsedPlan.expressions.flatMap(_.collect { case Literal(n: Long, LongType) => n }) match {
      case Seq(n) => Some(n)
      case _      => None
    }

  private def statement(old: SingleStatement, ours: ScriptStatement, text: String): SingleStatement = {
    val (start, stop) = (Some(ours.start), Some(ours.start + ours.length - 1))
    val origin = old.origin.copy(startIndex = start, stopIndex = stop, sqlText = Some(text))
    CurrentOrigin.withOrigin(origin)(SingleStatement(ours.plan))
  }
}

/**
 * @param start place at which the statement begins, in code points
 * @param length of its text, in code points
 */
final case class ScriptStatement(plan: LogicalPlan, start: Int, length: Int)
