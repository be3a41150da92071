package org.sparkzorder.shim

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.optimizer.{BuildSide, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Join, UnresolvedHint}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, ObjectType}

/** Single names that Spark 3.5 lacks. */
object SparkShim {
  private final class NoVariant

  /** There is no such type: no column has this one. */
  val VariantType: DataType = ObjectType(classOf[NoVariant])

  def conditionOf(error: SparkThrowable): String = error.getErrorClass

  /** A hint's parameters are what its user wrote. */
  def parametersOf(hint: UnresolvedHint): Seq[Expression] = hint.parameters.map {
    case column: Column         => column.expr
    case expression: Expression => expression
    case value                  => Literal(value)
  }

  /** The side of a join that Spark is going to broadcast, by hints or by sizes. */
  def broadcastSide(helper: JoinSelectionHelper, join: Join, hintOnly: Boolean, conf: SQLConf): Option[BuildSide] =
    helper.getBroadcastBuildSide(join.left, join.right, join.joinType, join.hint, hintOnly, conf)
}
