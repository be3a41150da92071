package org.sparkzorder.layout

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.sparkzorder.stats.{ColumnKey, Encoding, OrderedValue}

/**
 * A key column of a frame.
 *
 * @param lasting whether readers always see the same values as the writer did, whatever their settings
 */
final case class FrameColumn(key: ColumnKey, lasting: Boolean)

/**
 * What rows were placed by: the key columns, the boundaries of their values, and the curve. The
 * intervals of two files can be compared if the files have the same frame.
 *
 * @param id the same in every process that reads the frame
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

  /** The same frame, but readers may conclude nothing about values from it. */
  def notLasting: CurveFrame = new CurveFrame(id, columns.map(_.copy(lasting = false)), distributions, curve)

  /**
   * Whether the frame has boundaries. Without them it only says that files were placed along a curve of these columns.
   */
  def hasBoundaries: Boolean = distributions.exists(_.total > 0)

  def last: Long = (1L << curve.totalBits) - 1
}

object CurveFrame {

  /** The frame of these columns that has no boundaries. Its curve has no bits, so all its intervals are equal. */
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
 * A file's part of a curve: the values of the curve from `low` to `high`, both included. No row of the file is outside.
 *
 * @param layer 0 for a cell of the table's layout, 1 for newer rows that are over many cells
 */
final case class CurveInterval(frame: CurveFrame, low: Long, high: Long, layer: Int) {
  require(low >= 0 && low <= high && high <= frame.last, s"an interval from $low to $high")

  /** The interval of the same file in the frame without boundaries, which takes few bytes. */
  def withoutBoundaries: CurveInterval =
    CurveInterval(CurveFrame.withoutBoundaries(frame.columns.map(_.key)), 0, 0, layer)
}

object CurveInterval {
  val Cell = 0
  val Over = 1

  /**
   * The interval of each file that rows are cut into.
   *
   * @return for each slot, its least and its greatest value of the curve
   */
  def ofSlots(curve: Curve, cuts: Cuts): IndexedSeq[(Long, Long)] = {
    val keys = cuts.keys
    val last = (1L << curve.totalBits) - 1
    (0 to keys.length).map { i =>
      val from = if (i == 0) 0L else keys(i - 1)._1
      // A cut with the least tie is in front of all rows of its value, so the file before has none of them.
      val to = if (i == keys.length) last
      else if (keys(i)._2 == Long.MinValue) keys(i)._1 - 1 else keys(i)._1
      (from, math.max(from, to))
    }
  }
}
