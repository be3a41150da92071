package org.sparkzorder.skipping

import org.sparkzorder.conf.ByteSizes
import org.sparkzorder.predicate.Reason

/**
 * Files that a scan does not read, by the first means that ruled them out.
 *
 * @param members files that do not have the values that are asked for
 * @param answers files whose rows the index has counted for an aggregate
 */
final case class LeftOutBy(bounds: Long, curve: Long, members: Long, memory: Long, answers: Long = 0)

/**
 * What skipping did for one scan, after partition pruning.
 *
 * @param pruningMs wall time of loading the statistics and evaluating the filters, in milliseconds
 */
final case class SkippingReport(
    filesTotal: Long,
    filesKept: Long,
    bytesTotal: Long,
    bytesKept: Long,
    pruningMs: Double,
    leftOut: LeftOutBy,
    conjuncts: Seq[ConjunctReport]
) {
  def text: String = {
    val bytes = s"${ByteSizes.rounded(bytesKept)} of ${ByteSizes.rounded(bytesTotal)}"
    val memory = if (leftOut.memory == 0) "" else s", memory: ${leftOut.memory} of ${filesKept + leftOut.memory} files"
    val answers = if (leftOut.answers == 0) "" else s", answered from the index: ${leftOut.answers} files"
    f"$filesKept of $filesTotal files, $bytes, $pruningMs%.1f ms$memory$answers"
  }
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
