package org.sparkzorder.skipping

import org.sparkzorder.predicate.Reason

/**
 * What skipping did for one scan, after partition pruning.
 *
 * @param pruningMs wall time of reading the statistics needed and evaluating them
 */
final case class SkippingReport(
    filesTotal: Long,
    filesKept: Long,
    bytesTotal: Long,
    bytesKept: Long,
    pruningMs: Double,
    conjuncts: Seq[ConjunctReport]
) {
  def text: String =
    f"$filesKept of $filesTotal files, ${SkippingReport.size(bytesKept)} of ${SkippingReport.size(bytesTotal)}, $pruningMs%.1f ms"
}

/**
 * @param predicate as Spark's optimizer left it
 * @param filesKept what it alone would keep; None where it could not be used
 * @param reason why not
 */
final case class ConjunctReport(predicate: String, filesKept: Option[Long], reason: Option[Reason])

object SkippingReport {
  private def size(bytes: Long): String = {
    val units = Seq("B", "KiB", "MiB", "GiB", "TiB", "PiB")
    val power = if (bytes < 1024) 0 else math.min(units.size - 1, (math.log(bytes.toDouble) / math.log(1024)).toInt)
    if (power == 0) s"$bytes B" else f"${bytes / math.pow(1024, power)}%.1f ${units(power)}"
  }
}
