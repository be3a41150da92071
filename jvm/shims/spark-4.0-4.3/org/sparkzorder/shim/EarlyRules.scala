package org.sparkzorder.shim

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/** Rules that see a plan before names are resolved: Spark 4 has hints resolved then. */
object EarlyRules {
  def inject(extensions: SparkSessionExtensions, rule: SparkSession => Rule[LogicalPlan]): Unit =
    extensions.injectHintResolutionRule(rule(_))
}
