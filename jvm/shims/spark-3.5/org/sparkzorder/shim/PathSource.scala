package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic

/** Readers of Spark 3.5 resolve their paths before there is a plan. */
object PathSource {
  def unapply(plan: LogicalPlan): Option[(String, Seq[String])] = None

  def resolved(session: classic.SparkSession, plan: LogicalPlan): LogicalPlan = plan
}
