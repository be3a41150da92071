package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, Count => CountOf, Max, Min}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.types._

import org.sparkzorder.compat._
import org.sparkzorder.predicate.{And, Const, IsNotNull => ColumnIsNotNull, IsTrue, Not => Negated, StatsPredicate}
import org.sparkzorder.stats.OrderedValue

/**
 * An aggregate right above a scan whose functions the index may answer for whole files.
 *
 * @param groups ordinals of partition columns, one for each grouping expression
 * @param functions the different aggregate functions
 * @param slots of the functions, in their order
 */
private[answer] final case class AnswerableAggregate(
    aggregate: Aggregate,
    scan: AnswerableScan,
    groups: Seq[Int],
    functions: Seq[AggregateExpression],
    slots: Seq[AggregateValue]
)

private[answer] object AnswerableAggregate {

  def of(aggregate: Aggregate): Option[AnswerableAggregate] = aggregate.child match {
    case PhysicalOperation(list, filters, l: LogicalRelation) =>
      AnswerableScan.of(l, list, filters).flatMap(new Reading(aggregate, list, _).read)
    case _ => None
  }

  private final class Reading(aggregate: Aggregate, list: Seq[NamedExpression], scan: AnswerableScan) {

    def read: Option[AnswerableAggregate] = {
      val functions = aggregate.aggregateExpressions.flatMap(_.collect { case f: AggregateExpression => f })
        .distinctBy(_.canonicalized)
      val slots = functions.flatMap(slot)
      val groups = aggregate.groupingExpressions.map(ofScan).collect { case a: AttributeReference => a }
        .flatMap(scan.partitionColumn).filter(i => isGrouped(scan.relation.partitionSchema(i).dataType))
      val isKnown = slots.size == functions.size && groups.size == aggregate.groupingExpressions.size &&
        (slots.nonEmpty || groups.nonEmpty) && !aggregate.expressions.exists(_.exists(isForeign))
      if (isKnown) Some(AnswerableAggregate(aggregate, scan, groups, functions, slots)) else None
    }

    private def ofScan(e: Expression): Expression = scan.ofScan(list)(e)

    private def isForeign(e: Expression): Boolean =
      SubqueryExpression.hasSubquery(e) || e.isInstanceOf[PythonFuncExpression] || !e.deterministic

    private def slot(f: AggregateExpression): Option[AggregateValue] =
      if (f.isDistinct || f.mode != Complete) None
      else {
        val where = f.filter.map(c => translated(ofScan(c)))
        f.aggregateFunction match {
          case CountOf(Seq(e)) => Some(count(ofScan(e), where))
          case Min(e)          => extreme(ofScan(e), isMin = true, where)
          case Max(e)          => extreme(ofScan(e), isMin = false, where)
          case _               => None
        }
      }

    private def translated(e: Expression): StatsPredicate = scan.translated(e)

    private def count(e: Expression, where: Option[StatsPredicate]): AggregateValue = {
      val valued = e match {
        // count_if(p) is count(if(NOT p, null, p)).
        case If(condition, Literal(null, _), value) => And(Negated(IsTrue(translated(condition))), notNull(value))
        case other                                  => notNull(other)
      }
      val column = Some(valued).collect {
        case ColumnIsNotNull(c) if where.isEmpty && c.path.size == 1 && OrderedValue.encoding(c.dataType).isDefined => c
      }
      Count((where.toSeq :+ valued).reduce(And(_, _)), column)
    }

    private def notNull(e: Expression): StatsPredicate = e match {
      case Literal(value, _) => if (value == null) Const.False else Const.True
      case other             => translated(IsNotNull(other))
    }

    private def extreme(e: Expression, isMin: Boolean, where: Option[StatsPredicate]): Option[AggregateValue] =
      e match {
        case a: AttributeReference if AggregateValue.hasExactBounds(a.dataType) =>
          val of = scan.partitionColumn(a).map(scala.Right(_)).orElse(scan.dataColumn(a).map(scala.Left(_)))
          of.map(MinOrMax(_, isMin, where.getOrElse(Const.True), a.dataType))
        case _ => None
      }
  }

  /** Types whose equal values are equal objects. */
  private def isGrouped(dt: DataType): Boolean = dt match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | DateType => true
    case TimestampType | TimestampNTZType | _: DecimalType                      => true
    case s: StringType                                                          => OrderedValue.encoding(s).isDefined
    case _                                                                      => false
  }
}
