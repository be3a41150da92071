package org.sparkzorder.repartition

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{Star, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_HINT
import org.apache.spark.sql.types.{ByteType, DataType, IntegerType, LongType, ShortType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.shim.SparkShim.parametersOf

/**
 * The hints `ZORDER(n, a, b)` and `HILBERT(n, a, b)`. As in Spark's `REPARTITION_BY_RANGE`, n may be left out; then it
 * is `spark.sql.shuffle.partitions`. A column may be a string, as in a call of `DataFrame.hint`.
 */
object CurveHints extends Rule[LogicalPlan] {
  val ZOrder = "ZORDER"
  val Hilbert = "HILBERT"

  private val curves = Map(ZOrder -> LayoutSpec.ZOrder, Hilbert -> LayoutSpec.Hilbert)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (plan.containsPattern(UNRESOLVED_HINT)) plan.foreach(warnOfUndone)
    plan.resolveOperatorsWithPruning(_.containsPattern(UNRESOLVED_HINT)) {
      case hint: UnresolvedHint if isCurve(hint) => repartition(hint)
    }
  }

  private def isCurve(hint: UnresolvedHint) = curves.contains(hint.name.toUpperCase(Locale.ROOT))

  /** Of the hints of one query, Spark applies the first one last. */
  private def warnOfUndone(plan: LogicalPlan): Unit =
    if (plan.isInstanceOf[RepartitionOperation] || plan.isInstanceOf[RebalancePartitions])
      plan.children.collect { case hint: UnresolvedHint if isCurve(hint) => hint.name }.foreach { name =>
        logWarning(s"The hint $name does nothing here: a hint before it, such as REPARTITION, redistributes its rows")
      }

  private def repartition(hint: UnresolvedHint): LogicalPlan = {
    val name = hint.name.toUpperCase(Locale.ROOT)
    val (partitions, columns) = parametersOf(hint) match {
      case Literal(n: Number, dataType) +: rest if isWhole(dataType) =>
        if (n.longValue < 1 || n.longValue > LayoutSpec.MostFiles)
          throw ZOrderErrors.hintPartitions(name, n.toString, LayoutSpec.MostFiles)
        (n.intValue, rest)
      case all => (conf.defaultNumShufflePartitions, all)
    }
    if (columns.isEmpty) throw ZOrderErrors.hintWithoutColumns(name)
    RepartitionByCurve(name, curves(name), partitions, columns.map(key(name, _)), hint.child)
  }

  private def isWhole(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType => true
    case _                                             => false
  }

  private def key(hint: String, parameter: Expression): Expression = parameter match {
    case Literal(name: UTF8String, _: StringType) => UnresolvedAttribute(name.toString)
    case other: Literal   => throw ZOrderErrors.hintParameter(hint, other.sql, "it is not a column")
    case other: Star      => throw ZOrderErrors.hintParameter(hint, other.toString, "columns are named one by one")
    case order: SortOrder =>
      throw ZOrderErrors.hintParameter(hint, order.sql, "a curve has no ascending or descending columns")
    case column => column
  }
}
