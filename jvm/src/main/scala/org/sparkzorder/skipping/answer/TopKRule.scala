package org.sparkzorder.skipping.answer

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.predicate.Value
import org.sparkzorder.skipping.SkippingErrors
import org.sparkzorder.stats.OrderedValue

/**
 * Adds a condition to `ORDER BY c LIMIT k`: `c` must not come after a value that the first k rows do not pass. It follows
 * from the rows and the bounds of files in which all rows pass the filter. Skipping and Spark's readers then use the
 * condition like any other.
 */
object TopKRule extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.getConf(ZOrderConf.skippingEnabled) || !conf.getConf(ZOrderConf.topKEnabled)) plan
    else plan.transformUp { case limit: GlobalLimit => limited(limit).getOrElse(limit) }

  private def limited(limit: GlobalLimit): Option[LogicalPlan] =
    try
      for {
        (rows, child) <- Limits.rows(limit)
        s <- sort(child)
        first <- s.order.headOption
        (c, scan) <- condition(rows, first, s.child)
      } yield limit.transformUp { case leaf if leaf eq scan => Filter(c, leaf) }
    catch {
      case NonFatal(e) =>
        SkippingErrors.warn(Nil, e)
        None
    }

  private def sort(plan: LogicalPlan): Option[Sort] = plan match {
    case s: Sort if s.global                                                => Some(s)
    case Project(list, s: Sort) if s.global && list.forall(_.deterministic) => Some(s)
    case _                                                                  => None
  }

  private def condition(wanted: Long, by: SortOrder, child: LogicalPlan): Option[(Expression, LogicalRelation)] =
    child match {
      case PhysicalOperation(list, filters, l: LogicalRelation) =>
        for {
          scan <- AnswerableScan.of(l, filters)
          column <- Some(scan.ofScan(list)(by.child)).collect { case a: AttributeReference => a }
          if scan.partitionColumn(column).isDefined || scan.dataColumn(column).isDefined
          if OrderedValue.encoding(column.dataType).isDefined
          bound <-
            bound(wanted, scan, column, Witnesses.Order(by.direction == Ascending, by.nullOrdering == NullsFirst))
          value <- literal(column, bound)
        } yield (value.fold[Expression](IsNull(column))(passes(column, _, by)), l)
      case _ => None
    }

  private def passes(column: AttributeReference, value: Literal, by: SortOrder): Expression = {
    val within = if (by.direction == Ascending) LessThanOrEqual(column, value) else GreaterThanOrEqual(column, value)
    if (by.nullOrdering == NullsFirst && column.nullable) Or(IsNull(column), within) else within
  }

  /** The outer None: the bound cannot be a literal. Parquet's filters take other bytes for a text that is no UTF-8. */
  private def literal(column: AttributeReference, bound: Option[Value]): Option[Option[Literal]] = bound match {
    case None    => Some(None)
    case Some(v) =>
      val decoded = OrderedValue.decode(column.dataType, Witnesses.encoded(v))
      val isText = decoded match {
        case s: UTF8String => UTF8String.fromString(s.toString) == s
        // A dictionary filter does not take -0.0 for 0.0.
        case d: Double => d != 0
        case f: Float  => f != 0
        case _         => true
      }
      if (isText) Some(Some(Literal(decoded, column.dataType))) else None
  }

  /** The value that the first rows do not pass; None if they are all null. The outer None: nothing is known. */
  private def bound(
      wanted: Long,
      scan: AnswerableScan,
      column: AttributeReference,
      order: Witnesses.Order
  ): Option[Option[Value]] = {
    val facts = new IndexFacts(scan)
    if (wanted <= 0 || !facts.mayAnswer) None
    else {
      val listed = scan.location.listFiles(scan.onPartitions, scan.onData)
      val files = listed.flatMap(d => d.files.map(f => (f.fileStatus, d)))
      val sure = facts.ordinals(listed).flatten.zipWithIndex.collect {
        case (ordinal, i) if facts.isSure(ordinal) =>
          facts.witness(i, ordinal, files(i)._2.values, column, order)
      }.flatten
      Witnesses.of(wanted, sure, order.ascending)
        .filter(used => used.nonEmpty && used.size < files.size && !scan.isMoved)
        .filter(used => scan.changed(used.map(w => files(w.file)._1)).isEmpty)
        .map(_.last.bound)
    }
  }
}
