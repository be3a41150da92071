package org.sparkzorder.skipping.answer

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.IntegerLiteral
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.LogicalRelation

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.skipping.SkippingErrors

/**
 * Lets `WHERE .. LIMIT n` read only files in which all rows pass the filter, if they have n rows. Without an order any n
 * rows are an answer. Spark would search one file after the other for them.
 */
object LimitRule extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    // Spark makes a join of it, looks at it for what it gives without rows, and then optimizes it again.
    case s: Subquery if s.correlated                                                             => plan
    case _ if !conf.getConf(ZOrderConf.skippingEnabled) || !conf.getConf(ZOrderConf.topKEnabled) => plan
    case _ => plan.transformUp { case limit: GlobalLimit => limited(limit).getOrElse(limit) }
  }

  private def limited(limit: GlobalLimit): Option[LogicalPlan] =
    try
      Limits.rows(limit).flatMap { case (rows, child) =>
        child match {
          case PhysicalOperation(list, filters, l: LogicalRelation) if filters.nonEmpty =>
            AnswerableScan.of(l, list, filters).flatMap(enough(rows, _)).map { index =>
              limit.transformUp { case leaf if leaf eq l => index.in(l) }
            }
          case _ => None
        }
      }
    catch {
      case NonFatal(e) =>
        SkippingErrors.warn(Nil, e)
        None
    }

  private def enough(wanted: Long, scan: AnswerableScan): Option[RemainingFiles] = {
    val begin = System.nanoTime()
    val facts = new IndexFacts(scan)
    if (wanted <= 0 || !facts.mayAnswer) None
    else {
      val listed = scan.location.listFiles(scan.onPartitions, scan.onData)
      val sure = for {
        ((d, ordinals), i) <- listed.zip(facts.ordinals(listed)).zipWithIndex
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
        Some(RemainingFiles.chosen(scan, listed, files, s"LIMIT $wanted", why, millis))
      }
    }
  }
}

private[answer] object Limits {

  /** The rows that a limit takes from the plan below it, those that it leaves out as its offset included. */
  def rows(limit: GlobalLimit): Option[(Long, LogicalPlan)] = {
    val inner = limit.child match {
      case Offset(_, child) => child
      case other            => other
    }
    inner match {
      case LocalLimit(IntegerLiteral(rows), child) => Some((rows.toLong, child))
      case _                                       => None
    }
  }
}
