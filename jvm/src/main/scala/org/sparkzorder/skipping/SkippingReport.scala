package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.trees.TreeNodeTag

import org.sparkzorder.conf.ByteSizes
import org.sparkzorder.predicate.Reason

/** How many files one means after another has left, in the order in which they were tried. */
final case class StageCount(name: String, before: Long, after: Long) {
  def leftOut: Long = before - after
}

object StageCount {

  val Bounds = "bounds"

  val Curve = "curve"

  val Values = "values"

  val Memory = "memory"

  /** The index has counted the rows for an aggregate. */
  val Answers = "answers"
}

/**
 * What skipping did for one scan, after partition pruning.
 *
 * @param pruningMs wall time of loading the statistics and evaluating the filters, in milliseconds
 * @param reports makes the reports on conditions. They are only made for EXPLAIN, since they cost a look at the files
 *   for each of them
 */
final class SkippingReport(
    val filesTotal: Long,
    val filesKept: Long,
    val bytesTotal: Long,
    val bytesKept: Long,
    val pruningMs: Double,
    val stages: Seq[StageCount],
    reports: => Seq[ConjunctReport]
) {
  lazy val conjuncts: Seq[ConjunctReport] = reports

  def leftOutBy(name: String): Long = stages.filter(_.name == name).map(_.leftOut).sum

  def text: String = {
    val bytes = s"${ByteSizes.rounded(bytesKept)} of ${ByteSizes.rounded(bytesTotal)}"
    val (byMemory, byAnswers) = (leftOutBy(StageCount.Memory), leftOutBy(StageCount.Answers))
    val memory = if (byMemory == 0) "" else s", memory: $byMemory of ${filesKept + byMemory} files"
    val answers = if (byAnswers == 0) "" else s", answered from the index: $byAnswers files"
    f"$filesKept of $filesTotal files, $bytes, $pruningMs%.1f ms$memory$answers"
  }
}

private[skipping] object SkippingReport {
  val none: SkippingReport = new SkippingReport(0, 0, 0, 0, 0, Nil, Nil)
}

/**
 * @param text of the conjunct as Spark's optimizer left it. By name, because a list of thousands of values is long
 * @param filesKept files that the conjunct alone would keep; None if it could not be used
 * @param reason why it could not be used
 */
final class ConjunctReport(text: => String, val filesKept: Option[Long], val reason: Option[Reason]) {
  lazy val predicate: String = text
}

object ConjunctReport {
  def apply(text: => String, filesKept: Option[Long], reason: Option[Reason]): ConjunctReport =
    new ConjunctReport(text, filesKept, reason)
}

/** A scan that is not in the plan, since the index has answered for all of its files. */
final case class AnsweredScan(relation: String, report: SkippingReport)

/** A node of a physical plan that gives out what the index has answered. */
private[skipping] trait AnsweredNode { def answered: AnsweredScan }

object AnsweredScan {

  /** Of the rows that came in place of the scan. Spark drops it if it folds the plan above into the rows. */
  val Tag: TreeNodeTag[AnsweredScan] = TreeNodeTag[AnsweredScan]("zorder.answers")
}
