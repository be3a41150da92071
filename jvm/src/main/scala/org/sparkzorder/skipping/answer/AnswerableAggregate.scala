package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, Count => CountOf, Max, Min}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types._

import org.sparkzorder.predicate.{
  And,
  Column,
  Const,
  IsNotNull => ColumnIsNotNull,
  Not => Negated,
  StatsPredicate,
  Undefined
}
import org.sparkzorder.skipping.{ColumnsByName, PlannedFileIndex, Pruning, ScanFilters}
import org.sparkzorder.stats.OrderedValue

/**
 * An aggregate right above a scan whose functions the index may answer for whole files.
 *
 * @param filters of the scan, with the relation's names
 * @param groups ordinals of partition columns, one for each grouping expression
 * @param functions the different aggregate functions
 * @param slots of the functions, in their order
 */
private[answer] final case class AnswerableAggregate(
    aggregate: Aggregate,
    scan: LogicalRelation,
    relation: HadoopFsRelation,
    planned: PlannedFileIndex,
    filters: Seq[Expression],
    groups: Seq[Int],
    functions: Seq[AggregateExpression],
    slots: Seq[Slot]
) {

  /** The predicate of the scan's conjuncts about data. */
  def predicate(conjuncts: Seq[Expression]): StatsPredicate =
    conjuncts.map(Pruning.translate(relation, None, _)).reduceOption(And(_, _)).getOrElse(Const.True)
}

private[answer] object AnswerableAggregate {

  def of(aggregate: Aggregate): Option[AnswerableAggregate] = aggregate.child match {
    case PhysicalOperation(list, filters, l: LogicalRelation) =>
      l.relation match {
        case r @ HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _) if isPlain(r, planned, filters) =>
          new Reading(aggregate, list, l, r).read(planned, ScanFilters.evaluable(filters, l))
        case _ => None
      }
    case _ => None
  }

  /** Whether the scan reads all rows of its files, and finds columns by name. */
  private def isPlain(relation: HadoopFsRelation, planned: PlannedFileIndex, filters: Seq[Expression]): Boolean = {
    val conf = relation.sparkSession.sessionState.conf
    def isOn(name: String, otherwise: Boolean) =
      relation.options.collectFirst { case (k, v) if k.equalsIgnoreCase(name) => v.trim.equalsIgnoreCase("true") }
        .getOrElse(otherwise)
    filters.forall(ScanFilters.whyNot(_).isEmpty) && relation.bucketSpec.isEmpty &&
    !isOn("ignoreCorruptFiles", conf.ignoreCorruptFiles) && !isOn("ignoreMissingFiles", conf.ignoreMissingFiles) &&
    planned.views.size == 1 && planned.views.forall(v => v.snapshot.isDefined && !v.corrects) &&
    ColumnsByName.whyNot(relation, planned.views).isEmpty
  }

  private final class Reading(
      aggregate: Aggregate,
      list: Seq[NamedExpression],
      l: LogicalRelation,
      relation: HadoopFsRelation
  ) {
    private val below = AttributeMap(list.map {
      case a @ Alias(child, _) => a.toAttribute -> child
      case other               => other.toAttribute -> other
    })

    def read(planned: PlannedFileIndex, filters: Seq[Expression]): Option[AnswerableAggregate] = {
      val functions = aggregate.aggregateExpressions.flatMap(_.collect { case f: AggregateExpression => f })
        .distinctBy(_.canonicalized)
      val slots = functions.flatMap(slot)
      val groups = aggregate.groupingExpressions.map(ofScan).collect { case a: AttributeReference => a }
        .flatMap(partitionColumn).filter(i => isGrouped(relation.partitionSchema(i).dataType))
      val isKnown = slots.size == functions.size && groups.size == aggregate.groupingExpressions.size &&
        (slots.nonEmpty || groups.nonEmpty) && !aggregate.expressions.exists(_.exists(isForeign))
      if (isKnown) Some(AnswerableAggregate(aggregate, l, relation, planned, filters, groups, functions, slots))
      else None
    }

    private def isForeign(e: Expression): Boolean =
      SubqueryExpression.hasSubquery(e) || e.isInstanceOf[PythonFuncExpression] || !e.deterministic

    private def ofScan(e: Expression): Expression = e.transform { case a: AttributeReference =>
      below.getOrElse(a, a)
    }.transform { case a: AttributeReference => l.output.find(_.semanticEquals(a)).fold(a)(o => a.withName(o.name)) }

    private def slot(f: AggregateExpression): Option[Slot] =
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

    private def translated(e: Expression): StatsPredicate = Pruning.translate(relation, None, e)

    private def count(e: Expression, where: Option[StatsPredicate]): Slot = {
      val valued = e match {
        // count_if(p) is count(if(NOT p, null, p)).
        case If(condition, Literal(null, _), value) => And(Negated(isTrue(translated(condition))), notNull(value))
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

    private def isTrue(p: StatsPredicate): StatsPredicate = And(p, Negated(Undefined(p)))

    private def extreme(e: Expression, isMin: Boolean, where: Option[StatsPredicate]): Option[Slot] = e match {
      case a: AttributeReference if Slot.hasExactBounds(a.dataType) =>
        val of = partitionColumn(a).map(scala.Right(_)).orElse(dataColumn(a).map(scala.Left(_)))
        of.map(Extreme(_, isMin, where.getOrElse(Const.True), a.dataType))
      case _ => None
    }

    private def partitionColumn(a: AttributeReference): Option[Int] =
      Some(relation.partitionSchema.fields.indexWhere(f => f.name == a.name && f.dataType == a.dataType))
        .filter(i => i >= 0 && l.output.exists(_.semanticEquals(a)))

    private def dataColumn(a: AttributeReference): Option[Column] =
      if (
        l.output.exists(_.semanticEquals(a)) && relation.dataSchema.fieldNames.contains(a.name) &&
        !relation.partitionSchema.fieldNames.contains(a.name) && ColumnsByName.whyNot(relation, a.name).isEmpty
      )
        Some(Column(Seq(a.name), a.dataType))
      else None
  }

  /** Types whose equal values are equal objects. */
  private def isGrouped(dt: DataType): Boolean = dt match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | DateType => true
    case TimestampType | TimestampNTZType | _: DecimalType                      => true
    case s: StringType                                                          => OrderedValue.encoding(s).isDefined
    case _                                                                      => false
  }
}
