package org.sparkzorder.repartition

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{Star, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{REPARTITION_OPERATION, TreePattern, UNRESOLVED_HINT}
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.types.{
  ArrayType,
  ByteType,
  DataType,
  IntegerType,
  LongType,
  ShortType,
  StringType,
  StructType
}
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.{LayoutShape, LayoutSpec}
import org.sparkzorder.shim.SparkShim.parametersOf
import org.sparkzorder.stats.OrderedValue
import org.sparkzorder.write.rows.{CurveValue, SlotKey}

/**
 * Replaces a [[RepartitionByCurve]] by Spark's own operators:
 *  - A subquery samples the keys. Spark runs it before the rest, and reads no other columns for it.
 *  - One shuffle goes by a computed number of the partition. It makes as many partitions as asked for, and adaptive
 *    execution neither merges nor splits them.
 *  - A sort orders the rows inside of each partition.
 *
 * The partition of a row depends only on its values, so a task that runs again sends the row to the same partition. One
 * value of the curve may have too many rows for a partition. These rows are told apart by a hash of all columns, the
 * tie.
 */
object ResolveRepartition extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(REPARTITION_OPERATION)) {
      // No partitions are visible inside of a correlated subquery, so the hint does nothing there.
      case r: RepartitionByCurve if r.resolved && r.child.exists(_.expressions.exists(SubExprUtils.containsOuter)) =>
        r.child
      case r: RepartitionByCurve if r.resolved => inSparkOperators(r)
    }

  private def inSparkOperators(r: RepartitionByCurve): LogicalPlan = {
    val keys = keysOf(r)
    val child = r.child
    val layout = sampledLayout(r, keys)
    val file = Literal(0)
    val z = Alias(CurveValue(layout, file, keys), "z")()
    val tie = tieOf(child, keys)
    val withKeys = Project(child.output :+ z :+ tie, child)
    val slot = Alias(SlotKey(layout, file, z.toAttribute, tie.toAttribute), "slot")()
    val withSlots = Project(withKeys.output :+ slot, withKeys)
    val exchanged = RepartitionByExpression(Seq(slot.toAttribute), withSlots, Some(r.partitions))
    // A value of the curve may stand for many values of a column. In a sort by one column, these are sorted by
    // themselves.
    val columns = if (LayoutShape(r.curve, aligned = true).isSort(keys.length)) keys else Nil
    val order = (z.toAttribute +: columns :+ tie.toAttribute).map(SortOrder(_, Ascending))
    Project(child.output, Sort(order, global = false, exchanged))
  }

  /** The plan of where rows go, made by a subquery over a sample. */
  private def sampledLayout(r: RepartitionByCurve, keys: Seq[Expression]): Expression = {
    // Metrics of an observed DataFrame are left out: with the subquery, rows would be counted twice.
    val sampled = AnalysisHelper.allowInvokingTransformsInAnalyzer {
      r.child.transform { case c: CollectMetrics => c.child }
    }
    val aggregate = CurveLayout(keys, r.curve, r.partitions).toAggregateExpression()
    DecodedPlan(ScalarSubquery(Aggregate(Nil, Seq(Alias(aggregate, "layout")()), sampled)))
  }

  private def tieOf(child: LogicalPlan, keys: Seq[Expression]): Alias = {
    val withHash = child.output.filter(c => hasHash(c.dataType))
    Alias(new XxHash64(if (withHash.isEmpty) keys else withHash), "tie")()
  }

  private def keysOf(r: RepartitionByCurve): Seq[Expression] = {
    if (r.isStreaming) throw ZOrderErrors.hintOnStream(r.hint)
    if (r.keys.length > LayoutSpec.MostColumns) throw ZOrderErrors.tooManyColumns(r.keys.length, LayoutSpec.MostColumns)
    val keys = r.keys.map {
      case Alias(field, _) => field
      case key             => key
    }
    keys.zipWithIndex.foreach { case (key, i) =>
      unsupported(key).foreach(why => throw ZOrderErrors.hintParameter(r.hint, toPrettySQL(key), why))
      if (key.foldable) throw ZOrderErrors.hintParameter(r.hint, toPrettySQL(key), "it is constant")
      if (!key.deterministic) throw ZOrderErrors.hintParameter(r.hint, toPrettySQL(key), "it is not deterministic")
      if (keys.take(i).exists(_.semanticEquals(key))) throw ZOrderErrors.duplicateColumn(Seq(toPrettySQL(key)))
    }
    keys.map { key =>
      key.dataType match {
        // Ordered by its bytes, whatever its collation, since statistics are about bytes.
        case s: StringType if s != StringType                => Cast(key, StringType)
        case other if OrderedValue.encoding(other).isDefined => key
        case other                                           =>
          throw ZOrderErrors.unsupportedColumnType(Seq(toPrettySQL(key)), other.sql)
      }
    }
  }

  /** Why a key has no value of a row alone, if that is so. Spark would complain about our own plan. */
  private def unsupported(key: Expression): Option[String] = key.collectFirst {
    case _: WindowExpression    => "it has a window function"
    case _: AggregateExpression => "it has an aggregate function"
    case _: Generator           => "it makes several rows of one"
  }

  /** Whether equal values of the type have equal hashes in all versions of Spark. */
  private def hasHash(dataType: DataType): Boolean = dataType match {
    case s: StructType => s.forall(f => hasHash(f.dataType))
    case a: ArrayType  => hasHash(a.elementType)
    case _: StringType => true
    case other         => OrderedValue.encoding(other).isDefined
  }
}

/**
 * A hint in the plan: put the rows in so many partitions along a curve. When its names are resolved,
 * [[ResolveRepartition]] replaces it by Spark's own operators.
 *
 * @param hint the hint's name, in upper case
 * @param curve one of the curves of [[org.sparkzorder.layout.LayoutSpec]]
 */
final case class RepartitionByCurve(
    hint: String,
    curve: String,
    partitions: Int,
    keys: Seq[Expression],
    child: LogicalPlan
) extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  override val nodePatterns: Seq[TreePattern] = Seq(REPARTITION_OPERATION)

  override protected def withNewChildInternal(newChild: LogicalPlan): RepartitionByCurve = copy(child = newChild)
}

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
      case Literal(n: Number, ByteType | ShortType | IntegerType | LongType) +: rest =>
        if (n.longValue < 1 || n.longValue > LayoutSpec.MostFiles)
          throw ZOrderErrors.hintPartitions(name, n.toString, LayoutSpec.MostFiles)
        (n.intValue, rest)
      case all => (conf.defaultNumShufflePartitions, all)
    }
    if (columns.isEmpty) throw ZOrderErrors.hintWithoutColumns(name)
    RepartitionByCurve(name, curves(name), partitions, columns.map(key(name, _)), hint.child)
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
