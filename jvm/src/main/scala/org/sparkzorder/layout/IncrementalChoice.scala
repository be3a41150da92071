package org.sparkzorder.layout

/**
 * What to rewrite when new rows come.
 *
 * @param from the first cell to rewrite
 * @param until one more than the last cell to rewrite
 * @param absorbed the files over the cells that are rewritten as well
 * @param bytes all bytes to write, those of the new rows included
 * @param ratio the estimated files per lookup afterwards, divided by those after a full rewrite
 * @param more the estimated files per lookup afterwards, less those after a full rewrite
 */
final case class IncrementalChoice(
    from: Int,
    until: Int,
    absorbed: Set[Int],
    bytes: Long,
    ratio: Double,
    more: Double
) {

  /**
   * Whether a full rewrite is better: lookups read many times the files, and not just a few more.
   */
  def isPoor: Boolean = ratio > IncrementalChoice.WorstRatio && more > IncrementalChoice.FewFiles
}

object IncrementalChoice {
  private val WorstRatio = 1.5

  /** So few more files per lookup than after a full rewrite are no reason for one. */
  val FewFiles = 3
}
