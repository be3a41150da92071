package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Spark 3.5 has no SQL scripts. */
object ScriptShim {
  val hasScripts: Boolean = false

  def replaced(script: LogicalPlan, plans: Map[Int, ScriptStatement], text: String): LogicalPlan = script
}

/** @param length of the statement's text, in code points */
final case class ScriptStatement(plan: LogicalPlan, length: Int)
