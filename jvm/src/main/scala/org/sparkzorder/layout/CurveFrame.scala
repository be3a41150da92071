package org.sparkzorder.layout

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.sparkzorder.stats.{ColumnKey, Encoding, OrderedValue}

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

  /** Whether it says anything of values. Without that it tells that files were placed, by some frame of these columns. */
  def hasBoundaries: Boolean = distributions.exists(_.total > 0)

  /** The greatest value of the curve. */
  def last: Long = (1L << curve.totalBits) - 1
}

object CurveFrame {

  /** The one frame without boundaries of these columns. Its curve has no bits, and all intervals are alike. */
  def withoutBoundaries(columns: IndexedSeq[ColumnKey]): CurveFrame = {
    val distributions = columns.map { c =>
      if (OrderedValue.encoding(c.dataType).contains(Encoding.Longs)) ValueDistribution.ofLongs(Array.emptyLongArray, 0)
      else ValueDistribution.ofBytes(Array.empty[Array[Byte]], 0)
    }
    val words = columns.map(c => (c.path.toList, c.dataType.json)).toList.toString
    new CurveFrame(
      UUID.nameUUIDFromBytes(words.getBytes(UTF_8)).toString,
      columns.map(FrameColumn(_, lasting = false)),
      distributions,
      BitPlan.ofSequence(Nil, columns.length)
    )
  }
}

/**
 * A file's part of a curve, both ends included: no row of the file lies outside.
 *
 * @param layer 0 for a cell of the table's layout, 1 for newer rows that lie over many cells
 */
final case class CurveInterval(frame: CurveFrame, low: Long, high: Long, layer: Int) {
  require(low >= 0 && low <= high && high <= frame.last, s"an interval from $low to $high")

  /** The same file where boundaries are not worth their bytes. */
  def withoutBoundaries: CurveInterval =
    CurveInterval(CurveFrame.withoutBoundaries(frame.columns.map(_.key)), 0, 0, layer)
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
