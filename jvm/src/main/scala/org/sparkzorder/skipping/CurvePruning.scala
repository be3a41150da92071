package org.sparkzorder.skipping

import java.util.BitSet

import org.sparkzorder.index.{CurveIntervals, IndexSnapshot}
import org.sparkzorder.layout._
import org.sparkzorder.predicate.{BytesValue, Column, LongValue, StatsPredicate, Value, ValueRange, ValueRanges}
import org.sparkzorder.stats.KeyEncoding

/**
 * Leaves out files whose interval of the curve holds no point of the query's box, although the bounds of every column
 * overlap the box. This happens because the rows of a file need not fill the box around them.
 *
 * An interval is compared under the boundaries that the file's rows were placed by. Ids grow with the value, so rows
 * that match have ids between those of the range's ends. A column whose type has changed, or whose values depend on the
 * reading session, may have any id.
 *
 * This works for Z-order and sorts only. On a Hilbert curve, finding the next point of a box takes a search through the
 * cells; and with cuts at cell borders an interval is a few boxes, which the columns' bounds describe as well.
 */
private[skipping] object CurvePruning {

  /**
   * Clears the bits of files that the curve rules out. An interval is used only if the index has bounds of the same
   * columns in this file: whatever made bounds unusable makes the place on the curve unusable as well. A partition
   * column hides a column of the files.
   */
  def leaveOut(keep: BitSet, predicate: StatsPredicate, snapshot: IndexSnapshot, partition: Set[String]): Unit =
    if (!keep.isEmpty) {
      val ranges = ValueRanges.of(predicate).filterNot { case (column, _) => partition(column.path.head) }
      if (ranges.nonEmpty) snapshot.intervals.foreach { intervals =>
        val bounded = (for {
          column <- ranges.keySet & columnsOf(intervals)
          stats <- snapshot.column(column.path, column.dataType)
        } yield column -> stats.bounded).toMap
        if (bounded.nonEmpty) leaveOut(keep, ranges.filter(r => bounded.contains(r._1)), bounded, intervals)
      }
    }

  /** Those columns of the predicate that the index's curves are made of. */
  def columns(predicate: StatsPredicate, snapshot: IndexSnapshot): Set[Column] = {
    val ranges = ValueRanges.of(predicate).keySet
    if (ranges.isEmpty) ranges else snapshot.intervals.fold(Set.empty[Column])(ranges & columnsOf(_))
  }

  private def columnsOf(intervals: CurveIntervals): Set[Column] =
    intervals.frames.flatMap(_.columns).map(c => Column(c.key.path, c.key.dataType)).toSet

  private def leaveOut(
      keep: BitSet,
      ranges: Map[Column, ValueRange],
      bounded: Map[Column, BitSet],
      intervals: CurveIntervals
  ): Unit = {
    val boxes = intervals.frames.map(box(_, ranges)).toArray
    val believed = intervals.frames.map(f => f.columns.flatMap(c => bounded.get(Column(c.key.path, c.key.dataType))))
    var i = keep.nextSetBit(0)
    while (i >= 0) {
      val frame = intervals.frame(i)
      if (frame >= 0) boxes(frame).foreach { b =>
        if (believed(frame).forall(_.get(i)) && !b.meets(intervals.lowOf(i), intervals.highOf(i))) keep.clear(i)
      }
      i = keep.nextSetBit(i + 1)
    }
  }

  /** None if the query does not restrict the frame's columns. */
  private[skipping] def box(frame: CurveFrame, ranges: Map[Column, ValueRange]): Option[QueryBox] = frame.curve match {
    case plan: BitPlan =>
      val all = frame.columns.indices.map(c => (0L, (1L << plan.bits(c)) - 1))
      val ids = frame.columns.indices.map { c =>
        val bits = plan.bits(c)
        val full = all(c)
        val column = frame.columns(c)
        if (!column.lasting) full
        else
          ranges.get(Column(column.key.path, column.key.dataType)).fold(full) { r =>
            val d = frame.distributions(c)
            (r.low.fold(full._1)(v => d.id(place(d, v), bits)), r.high.fold(full._2)(v => d.id(place(d, v), bits)))
          }
      }
      // Crossing ends mean that no row matches. The bounds of the columns decide such predicates.
      if (ids == all || ids.exists { case (low, high) => low > high }) None
      else Some(new QueryBox(plan, ids.map(_._1).toArray, ids.map(_._2).toArray))
    case _ => None
  }

  private def place(d: ValueDistribution, value: Value): Int = (d, value) match {
    case (l: LongDistribution, LongValue(v))   => l.place(v)
    case (b: BytesDistribution, v: BytesValue) => b.place(KeyEncoding.cut(v.bytes))
    case (_, v) => throw new IllegalArgumentException(s"$v for boundaries of another encoding")
  }
}
