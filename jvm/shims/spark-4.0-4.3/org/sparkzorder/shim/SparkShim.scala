package org.sparkzorder.shim

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint
import org.apache.spark.sql.types

/** Single names that Spark 3.5 lacks. */
object SparkShim {
  val VariantType: types.VariantType = types.VariantType

  def conditionOf(error: SparkThrowable): String = error.getCondition

  def parametersOf(hint: UnresolvedHint): Seq[Expression] = hint.parameters
}
