package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Spark 3.5 has no SQL scripts. */
object ScriptShim {
  val hasScripts: Boolean = false

  def replaced(script: LogicalPlan, plans: Map[Long, ScriptStatement], text: String): Option[LogicalPlan] = None
}

/**
 * @param start place at which the statement begins, in code points
 * @param length of its text, in code points
 */
final case class ScriptStatement(plan: LogicalPlan, start: Int, length: Int)
