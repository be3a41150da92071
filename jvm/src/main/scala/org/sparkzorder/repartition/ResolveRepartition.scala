package org.sparkzorder.repartition

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.REPARTITION_OPERATION
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.types.{ArrayType, DataType, StringType, StructType}

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.{LayoutShape, LayoutSpec}
import org.sparkzorder.stats.OrderedValue
import org.sparkzorder.write.{CurveValue, SlotKey}

/**
 * A [[RepartitionByCurve]] in Spark's own operators: a subquery samples the keys, which Spark runs before the rest and
 * reads no other columns for; one shuffle by computed numbers of partitions, as many as asked for, which adaptive
 * execution neither merges nor splits; and a sort inside of each partition.
 *
 * Where a row goes depends on its values alone, so a task that runs again sends it to where it went before. Rows of one
 * value of the curve may be too many for a partition; then they are told apart by a hash of all columns.
 */
object ResolveRepartition extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(REPARTITION_OPERATION)) {
      // Inside of a correlated subquery there are no partitions that anybody could see.
      case r: RepartitionByCurve if r.resolved && r.child.exists(_.expressions.exists(SubExprUtils.containsOuter)) =>
        r.child
      case r: RepartitionByCurve if r.resolved => spelledOut(r)
    }

  private def spelledOut(r: RepartitionByCurve): LogicalPlan = {
    val keys = keysOf(r)
    val child = r.child
    val layout = {
      // What is observed would be observed twice.
      val sampled = AnalysisHelper.allowInvokingTransformsInAnalyzer {
        child.transform { case c: CollectMetrics => c.child }
      }
      val aggregate = CurveLayout(keys, r.curve, r.partitions).toAggregateExpression()
      DecodedPlan(ScalarSubquery(Aggregate(Nil, Seq(Alias(aggregate, "layout")()), sampled)))
    }
    val file = Literal(0)
    val z = Alias(CurveValue(layout, file, keys), "z")()
    val withHash = child.output.filter(c => hasHash(c.dataType))
    val hashed = if (withHash.isEmpty) keys else withHash
    val tie = Alias(new XxHash64(hashed), "tie")()
    val placed = Project(child.output :+ z :+ tie, child)
    val slot = Alias(SlotKey(layout, file, z.toAttribute, tie.toAttribute), "slot")()
    val numbered = Project(placed.output :+ slot, placed)
    val exchanged = RepartitionByExpression(Seq(slot.toAttribute), numbered, Some(r.partitions))
    // A sort by the curve has steps, each of many values: inside a step of one column the values themselves decide.
    val columns = if (LayoutShape(r.curve, aligned = true).isSort(keys.length)) keys else Nil
    val order = (z.toAttribute +: columns :+ tie.toAttribute).map(SortOrder(_, Ascending))
    Project(child.output, Sort(order, global = false, exchanged))
  }

  private def keysOf(r: RepartitionByCurve): Seq[Expression] = {
    if (r.isStreaming) throw ZOrderErrors.hintOnStream(r.hint)
    if (r.keys.length > LayoutSpec.MostColumns)
      throw ZOrderErrors.tooManyColumns(r.keys.length, LayoutSpec.MostColumns)
    val keys = r.keys.map {
      case Alias(field, _) => field
      case key             => key
    }
    keys.zipWithIndex.foreach { case (key, i) =>
      if (key.foldable) throw ZOrderErrors.hintParameter(r.hint, toPrettySQL(key), "it is constant")
      if (!key.deterministic) throw ZOrderErrors.hintParameter(r.hint, toPrettySQL(key), "it is not deterministic")
      if (keys.take(i).exists(_.semanticEquals(key))) throw ZOrderErrors.duplicateColumn(Seq(toPrettySQL(key)))
    }
    keys.map { key =>
      key.dataType match {
        // By its bytes, whatever its collation: those are what statistics are about.
        case s: StringType if s != StringType                => Cast(key, StringType)
        case other if OrderedValue.encoding(other).isDefined => key
        case other                                           =>
          throw ZOrderErrors.unsupportedColumnType(Seq(toPrettySQL(key)), other.sql)
      }
    }
  }

  /** Whether equal values of the type have equal hashes in all versions of Spark. */
  private def hasHash(dataType: DataType): Boolean = dataType match {
    case s: StructType => s.forall(f => hasHash(f.dataType))
    case a: ArrayType  => hasHash(a.elementType)
    case _: StringType => true
    case other         => OrderedValue.encoding(other).isDefined
  }
}
