package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, Count => CountOf, Max, Min}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import org.sparkzorder.compat._
import org.sparkzorder.predicate.{
  And,
  Column,
  Const,
  Filters,
  IsNotNull => ColumnIsNotNull,
  IsTrue,
  Not => Negated,
  StatsPredicate
}
import org.sparkzorder.scan.FileRevalidation
import org.sparkzorder.skipping.{
  ColumnsByName,
  JoinFilters,
  PlannedFileIndex,
  ScanFilters,
  ScanPredicates,
  SkippingErrors
}
import org.sparkzorder.stats.OrderedValue

/**
 * An aggregate right above a scan whose functions the index may answer for whole files. Groups are the ordinals of
 * partition columns; each of the different functions has a measure, in their order.
 */
private[answer] final case class AnswerableAggregate(
    aggregate: Aggregate,
    scan: AnswerableScan,
    groups: Seq[Int],
    functions: Seq[AggregateExpression],
    measures: Seq[AggregateValue]
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
      val measures = functions.flatMap(measure)
      val groups = aggregate.groupingExpressions.map(ofScan).collect { case a: AttributeReference => a }
        .flatMap(scan.partitionColumn).filter(i => isGrouped(scan.relation.partitionSchema(i).dataType))
      val isKnown = measures.size == functions.size && groups.size == aggregate.groupingExpressions.size &&
        (measures.nonEmpty || groups.nonEmpty) && !aggregate.expressions.exists(_.exists(isForeign))
      if (isKnown) Some(AnswerableAggregate(aggregate, scan, groups, functions, measures)) else None
    }

    private def ofScan(e: Expression): Expression = scan.ofScan(list)(e)

    private def isForeign(e: Expression): Boolean =
      SubqueryExpression.hasSubquery(e) || e.isInstanceOf[PythonFuncExpression] || !e.deterministic

    private def measure(f: AggregateExpression): Option[AggregateValue] =
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

/**
 * A scan about whose files the index may tell more than which ones to leave out: it reads all rows of its files, and
 * finds columns by name.
 *
 * @param filters of the scan, with the relation's names
 */
private[skipping] final case class AnswerableScan(
    scan: LogicalRelation,
    relation: HadoopFsRelation,
    planned: PlannedFileIndex,
    filters: Seq[Expression]
) {
  val (onPartitions, onData) = ScanFilters.byPartition(filters, scan, relation)

  def translated(e: Expression): StatsPredicate = ScanPredicates.translated(relation, planned.views, Seq(e)).head

  lazy val predicate: StatsPredicate = Filters.conjunction(onData.map(translated))

  /** The index that lists the files which are not left out. */
  lazy val location: FileIndex = planned.location(scan, filters)

  /** Whether an operation has come further, so that a listing of now may have other files. */
  def isMoved: Boolean =
    // Spark lists the partitions of a catalog's table after the look at the table.
    planned.base.isInstanceOf[CatalogFileIndex] && planned.views.exists(_.isMoved)

  def areAsListed(files: Seq[FileStatusWithMetadata]): Boolean =
    FileRevalidation.of(relation.sparkSession, (folder, e) => SkippingErrors.warn(Seq(folder), e))
      .forall(_.changedOf(files.map(_.fileStatus)).isEmpty)

  /** An expression above the scan over the scan's own columns. */
  def ofScan(list: Seq[NamedExpression])(e: Expression): Expression = {
    val below = AttributeMap(list.map {
      case a @ Alias(child, _) => a.toAttribute -> child
      case other               => other.toAttribute -> other
    })
    JoinFilters.named(e.transform { case a: AttributeReference => below.getOrElse(a, a) }, scan)
  }

  /** Not a decimal: Spark leaves it with the digits that the folder's name has. */
  def partitionColumn(a: AttributeReference): Option[Int] =
    Some(relation.partitionSchema.fields.indexWhere(f => f.name == a.name && f.dataType == a.dataType))
      .filter(i => i >= 0 && isOwn(a) && !a.dataType.isInstanceOf[DecimalType])

  def dataColumn(a: AttributeReference): Option[Column] = Option.when(
    isOwn(a) && relation.dataSchema.fieldNames.contains(a.name) &&
      !relation.partitionSchema.fieldNames.contains(a.name) && ColumnsByName.whyNot(relation, a.name).isEmpty
  )(Column(Seq(a.name), a.dataType))

  private def isOwn(a: AttributeReference) = scan.output.exists(_.semanticEquals(a))
}

private[skipping] object AnswerableScan {

  /** @param list the columns above the scan. Values such as the number of a row depend on which files are read */
  def of(l: LogicalRelation, list: Seq[NamedExpression], filters: Seq[Expression]): Option[AnswerableScan] =
    l.relation match {
      case r @ HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _)
          if list.forall(_.deterministic) && isPlain(r, planned, filters) =>
        Some(AnswerableScan(l, r, planned, ScanFilters.evaluable(filters, l)))
      case _ => None
    }

  private def isPlain(relation: HadoopFsRelation, planned: PlannedFileIndex, filters: Seq[Expression]): Boolean = {
    // Spark asks the active session, and the relation's own for some.
    val confs = Seq(relation.sparkSession.sessionState.conf, SQLConf.get)
    def isOn(name: String, set: SQLConf => Boolean) =
      confs.exists(set) || relation.options.exists { case (k, v) =>
        k.equalsIgnoreCase(name) && v.trim.equalsIgnoreCase("true")
      }
    filters.forall(ScanFilters.whyNot(_).isEmpty) && relation.bucketSpec.isEmpty &&
    !isOn("ignoreCorruptFiles", _.ignoreCorruptFiles) && !isOn("ignoreMissingFiles", _.ignoreMissingFiles) &&
    planned.views.size == 1 && planned.views.forall(v => v.snapshot.isDefined && !v.corrects) &&
    ColumnsByName.whyNot(relation, planned.views).isEmpty
  }
}
