package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.expressions.{DynamicPruningSubquery, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

object DynamicPruning {

  /** Whether a key is the i-th key of a row of a plan, if Spark broadcasts the plan's rows for a join. Else it is true. */
  def ofBroadcast(key: Expression, plan: LogicalPlan, keys: Seq[Expression], i: Int): DynamicPruningSubquery =
    DynamicPruningSubquery(key, plan, keys, Seq(i), onlyInBroadcast = true)
}
