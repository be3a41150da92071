package org.sparkzorder.layout

/**
 * Bytes of data along a piece of the curve: one file, or several files that share a value of the curve.
 *
 * @param low the least value of the curve in the piece
 * @param high the greatest value of the curve in the piece
 */
final case class CurvePiece(low: Long, high: Long, bytes: Long)

/**
 * Data of the same folder that is neither in a cell nor in a file over the cells.
 *
 * @param bytes its size
 * @param files how many of its files a lookup reads
 * @param written how many of its bytes the same statement writes
 */
final case class BesideCells(bytes: Long, files: Double, written: Long)

object BesideCells {
  val nothing: BesideCells = BesideCells(0, 0, 0)
}

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

  /** Whether a full rewrite is better: lookups read many times the files, and not just a few more. */
  def isPoor: Boolean = ratio > IncrementalChoice.WorstRatio && more > IncrementalChoice.FewFiles
}

object IncrementalChoice {
  private val WorstRatio = 1.5

  /** So few more files per lookup than after a full rewrite are no reason for one. */
  val FewFiles = 3
}
