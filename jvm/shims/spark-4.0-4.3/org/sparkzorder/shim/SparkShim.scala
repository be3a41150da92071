package org.sparkzorder.shim

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.{BuildSide, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Join, UnresolvedHint}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types

/** Single names that Spark 3.5 lacks. */
object SparkShim {
  val VariantType: types.VariantType = types.VariantType

  def conditionOf(error: SparkThrowable): String = error.getCondition

  def parametersOf(hint: UnresolvedHint): Seq[Expression] = hint.parameters

  /** The side of a join that Spark is going to broadcast, by hints or by sizes. */
  def broadcastSide(helper: JoinSelectionHelper, join: Join, hintOnly: Boolean, conf: SQLConf): Option[BuildSide] =
    helper.getBroadcastBuildSide(join, hintOnly, conf)
}
