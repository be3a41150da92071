package org.sparkzorder.skipping.answer

import org.apache.spark.sql.catalyst.expressions.IntegerLiteral
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.LogicalRelation

import org.sparkzorder.conf.ZOrderConf

/**
 * Lets `WHERE .. LIMIT n` read only files in which all rows pass the filter, if they have n rows. Without an order any n
 * rows are an answer. Spark would search one file after the other for them.
 */
object LimitRule extends AnswerRule(ZOrderConf.topKEnabled) {

  override protected def answered(node: LogicalPlan, inSubquery: Boolean): Option[LogicalPlan] =
    Limits.rows(node).flatMap {
      case (rows, PhysicalOperation(list, filters, l: LogicalRelation)) if filters.nonEmpty =>
        AnswerableScan.of(l, list, filters).flatMap(enough(rows, _)).map(_.in(node))
      case _ => None
    }

  private def enough(wanted: Long, scan: AnswerableScan): Option[RemainingFiles] = {
    val begin = System.nanoTime()
    val facts = new IndexFacts(scan)
    if (wanted <= 0 || !facts.mayAnswer) None
    else {
      val listed = facts.listed
      val sure = for {
        ((d, ordinals), i) <- listed.zip(facts.ordinals).zipWithIndex
        (file, ordinal) <- d.files.zip(ordinals) if facts.isSure(ordinal) && facts.table.rows(ordinal) > 0
      } yield (i, file, facts.table.rows(ordinal))
      val until = sure.iterator.scanLeft(0L)(_ + _._3).indexWhere(_ >= wanted)
      val used = sure.take(until)
      val all = listed.iterator.map(_.files.size).sum
      if (until < 0 || used.size == all || scan.isMoved || scan.changed(used.map(_._2.fileStatus)).nonEmpty) None
      else {
        val files = used.groupBy(_._1).toSeq.sortBy(_._1).map { case (i, of) => listed(i).copy(files = of.map(_._2)) }
        val why = "all rows of these files pass the filter, and they are enough"
        val millis = (System.nanoTime() - begin) / 1e6
        val report = RemainingFiles.report(scan, listed, files, s"LIMIT $wanted", why, millis)
        Some(new RemainingFiles(scan, files, report, areChosen = true))
      }
    }
  }
}

private[answer] object Limits {

  /** The rows that a limit takes from the plan below it, with those that its offset leaves out; None for other plans. */
  def rows(plan: LogicalPlan): Option[(Long, LogicalPlan)] = plan match {
    case GlobalLimit(_, Offset(_, LocalLimit(IntegerLiteral(rows), child))) => Some((rows.toLong, child))
    case GlobalLimit(_, LocalLimit(IntegerLiteral(rows), child))            => Some((rows.toLong, child))
    case _                                                                  => None
  }
}
