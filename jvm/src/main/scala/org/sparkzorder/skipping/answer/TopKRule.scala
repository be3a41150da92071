package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.LogicalRelation

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.stats.OrderedValue

/**
 * Lets a query with a limit read only files that have enough rows.
 *
 * `WHERE .. LIMIT n` reads files in which all rows pass the filter. Without an order any n rows are an answer. Spark
 * would search one file after the other for them.
 *
 * `ORDER BY c LIMIT k` reads files that may hold one of the first k rows. From the rows and the bounds of files in
 * which all rows pass the filter follows a value that the first k rows do not pass. Spark's readers do not get it as a
 * condition: they trust statistics of files that the index does not.
 */
object TopKRule extends AnswerRule(ZOrderConf.topKEnabled) {

  override protected def answered(node: LogicalPlan, inSubquery: Boolean): Option[LogicalPlan] =
    rows(node).filter(_._1 > 0).flatMap {
      case (rows, SortOf(by, PhysicalOperation(list, filters, l: LogicalRelation))) =>
        for {
          scan <- AnswerableScan.of(l, list, filters)
          column <- Some(scan.ofScan(list)(by.child)).collect { case a: AttributeReference => a }
          if scan.partitionColumn(column).isDefined || scan.dataColumn(column).isDefined
          if OrderedValue.encoding(column.dataType).isDefined
          files <- first(rows, scan, column, by)
        } yield files
      case (rows, PhysicalOperation(list, filters, l: LogicalRelation)) if filters.nonEmpty =>
        AnswerableScan.of(l, list, filters).flatMap(enough(rows, _))
      case _ => None
    }.map(_.in(node))

  /** The rows that a limit takes from the plan below it, with those that its offset leaves out; None for others. */
  private def rows(plan: LogicalPlan): Option[(Long, LogicalPlan)] = plan match {
    case GlobalLimit(_, Offset(_, LocalLimit(IntegerLiteral(rows), child))) => Some((rows.toLong, child))
    case GlobalLimit(_, LocalLimit(IntegerLiteral(rows), child))            => Some((rows.toLong, child))
    case _                                                                  => None
  }

  private object SortOf {
    def unapply(plan: LogicalPlan): Option[(SortOrder, LogicalPlan)] = plan match {
      case s: Sort if s.global                                    => s.order.headOption.map(_ -> s.child)
      case Project(list, s: Sort) if list.forall(_.deterministic) => unapply(s)
      case _                                                      => None
    }
  }

  private def enough(wanted: Long, scan: AnswerableScan): Option[RemainingFiles] = {
    val begin = System.nanoTime()
    val facts = new FileFacts(scan)
    if (!facts.mayAnswer) None
    else {
      val sure = for {
        ((d, ordinals), i) <- facts.listed.zip(facts.ordinals).zipWithIndex
        (file, ordinal) <- d.files.zip(ordinals) if facts.isSure(ordinal) && facts.table.rows(ordinal) > 0
      } yield (i, file, facts.table.rows(ordinal))
      val until = sure.iterator.scanLeft(0L)(_ + _._3).indexWhere(_ >= wanted)
      val used = sure.take(until)
      val kept = used.groupBy(_._1).toSeq.sortBy(_._1).map { case (i, of) =>
        facts.listed(i).copy(files = of.map(_._2))
      }
      val why = "all rows of these files pass the filter, and they are enough"
      // Others need not be as they were listed.
      if (until < 0) None
      else RemainingFiles.chosen(scan, facts.listed, kept, used.map(_._2), s"LIMIT $wanted", why, begin)
    }
  }

  private def first(
      wanted: Long,
      scan: AnswerableScan,
      column: AttributeReference,
      by: SortOrder
  ): Option[RemainingFiles] = {
    val begin = System.nanoTime()
    // Spark says of most conditions on a column that it is not null.
    val mayBeNull = !scan.filters.exists { case IsNotNull(a) => a.semanticEquals(column); case _ => false }
    val order = TopKCandidates.Order(by.direction == Ascending, by.nullOrdering == NullsFirst && mayBeNull)
    val facts = new FileFacts(scan)
    val candidates = new facts.CandidatesOf(column, order)
    if (!candidates.mayBe) None
    else {
      val (listed, ordinals) = (facts.listed, facts.ordinals)
      val all = listed.flatMap(d => d.files.map(_ -> d.values))
      val sure = ordinals.flatten.zipWithIndex.flatMap { case (ordinal, i) => candidates.of(i, ordinal, all(i)._2) }
      for {
        used <- TopKCandidates.of(wanted, sure, order.ascending) if used.nonEmpty
        isKept = facts.notAfter(used.last.bound, column, order)
        kept = listed.zip(ordinals).map { case (d, of) =>
          d.copy(files = d.files.zip(of).collect { case (f, ordinal) if isKept(ordinal, d.values) => f })
        }
        (what, why) = (s"ORDER BY ${by.sql} LIMIT $wanted", "other files hold none of the first rows")
        // The files that are read must be of the same state as the others.
        files <- RemainingFiles.chosen(scan, listed, kept, all.map(_._1), what, why, begin)
      } yield files
    }
  }
}
