package org.sparkzorder.layout

import org.sparkzorder.stats.ColumnKey

/**
 * A key column of a frame.
 *
 * @param lasting whether a reader elsewhere and later sees the values that the writer placed rows by
 */
final case class FrameColumn(key: ColumnKey, lasting: Boolean)

/**
 * What rows were placed by: the key columns, the boundaries of their values, the curve. Files of one frame can be
 * compared by their intervals of the curve.
 *
 * @param id of this frame, whoever reads it
 */
final class CurveFrame(
    val id: String,
    val columns: IndexedSeq[FrameColumn],
    val distributions: IndexedSeq[ValueDistribution],
    val curve: Curve
) {
  require(
    columns.length == distributions.length && columns.length == curve.columns,
    s"${columns.length} columns, ${distributions.length} distributions, a curve of ${curve.columns}"
  )

  /** The same frame, of which no reader may conclude anything about values. */
  def notLasting: CurveFrame = new CurveFrame(id, columns.map(_.copy(lasting = false)), distributions, curve)

  /** The greatest value of the curve. */
  def last: Long = (1L << curve.totalBits) - 1
}

/**
 * A file's part of a curve, both ends included: no row of the file lies outside.
 *
 * @param layer 0 for a cell of the table's layout, 1 for newer rows that lie over many cells
 */
final case class CurveInterval(frame: CurveFrame, low: Long, high: Long, layer: Int) {
  require(low >= 0 && low <= high && high <= frame.last, s"an interval from $low to $high")
}

object CurveInterval {
  val Cell = 0
  val Over = 1

  /**
   * The interval of each file that rows are cut into.
   *
   * @return from and to of slot 0, 1, ..
   */
  def ofSlots(curve: Curve, cuts: Cuts): IndexedSeq[(Long, Long)] = {
    val keys = cuts.keys
    val last = (1L << curve.totalBits) - 1
    (0 to keys.length).map { i =>
      val from = if (i == 0) 0L else keys(i - 1)._1
      // A cut with the least tie is the first key of its value: no row of the file before has that value.
      val to = if (i == keys.length) last
      else if (keys(i)._2 == Long.MinValue) keys(i)._1 - 1 else keys(i)._1
      (from, math.max(from, to))
    }
  }
}
