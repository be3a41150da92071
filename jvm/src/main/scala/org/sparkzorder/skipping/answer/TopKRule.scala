package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.LogicalRelation

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.stats.OrderedValue

/**
 * Lets `ORDER BY c LIMIT k` read only files that may hold one of the first k rows. From the rows and the bounds of files
 * in which all rows pass the filter follows a value that the first k rows do not pass. Spark's readers do not get it as
 * a condition: they trust statistics of files that the index does not.
 */
object TopKRule extends AnswerRule(ZOrderConf.topKEnabled) {

  override protected def answered(node: LogicalPlan, inSubquery: Boolean): Option[LogicalPlan] =
    for {
      (rows, child) <- Limits.rows(node)
      s <- sort(child)
      first <- s.order.headOption
      index <- chosen(rows, first, s.child)
    } yield index.in(node)

  private def sort(plan: LogicalPlan): Option[Sort] = plan match {
    case s: Sort if s.global                                                => Some(s)
    case Project(list, s: Sort) if s.global && list.forall(_.deterministic) => Some(s)
    case _                                                                  => None
  }

  private def chosen(wanted: Long, by: SortOrder, child: LogicalPlan): Option[RemainingFiles] =
    child match {
      case PhysicalOperation(list, filters, l: LogicalRelation) =>
        for {
          scan <- AnswerableScan.of(l, list, filters)
          column <- Some(scan.ofScan(list)(by.child)).collect { case a: AttributeReference => a }
          if scan.partitionColumn(column).isDefined || scan.dataColumn(column).isDefined
          if OrderedValue.encoding(column.dataType).isDefined && wanted > 0
          index <- files(wanted, scan, column, by)
        } yield index
      case _ => None
    }

  private def files(
      wanted: Long,
      scan: AnswerableScan,
      column: AttributeReference,
      by: SortOrder
  ): Option[RemainingFiles] = {
    val begin = System.nanoTime()
    // Spark says of most conditions on a column that it is not null.
    val mayBeNull = !scan.filters.exists { case IsNotNull(a) => a.semanticEquals(column); case _ => false }
    val order = Witnesses.Order(by.direction == Ascending, by.nullOrdering == NullsFirst && mayBeNull)
    val facts = new IndexFacts(scan)
    val witnesses = new facts.WitnessesOf(column, order)
    if (!witnesses.mayBe) None
    else {
      val (listed, ordinals) = (facts.listed, facts.ordinals)
      val all = listed.flatMap(d => d.files.map(f => (f.fileStatus, d.values)))
      val sure = ordinals.flatten.zipWithIndex.flatMap { case (ordinal, i) => witnesses.of(i, ordinal, all(i)._2) }
      for {
        used <- Witnesses.of(wanted, sure, order.ascending)
        if used.nonEmpty && !scan.isMoved
        isKept = facts.notAfter(used.last.bound, column, order)
        kept = listed.zip(ordinals).map { case (d, of) =>
          d.copy(files = d.files.zip(of).collect { case (f, ordinal) if isKept(ordinal, d.values) => f })
        }
        // The files that are read must be of the same state as the others.
        if kept.iterator.map(_.files.size).sum < all.size && scan.changed(all.map(_._1)).isEmpty
      } yield {
        val (what, why) = (s"ORDER BY ${by.sql} LIMIT $wanted", "other files hold none of the first rows")
        val millis = (System.nanoTime() - begin) / 1e6
        val report = RemainingFiles.report(scan, listed, kept, what, why, millis)
        new RemainingFiles(scan, kept, report, areChosen = true)
      }
    }
  }
}
