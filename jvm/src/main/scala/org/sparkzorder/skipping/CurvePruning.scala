package org.sparkzorder.skipping

import java.util.BitSet

import org.sparkzorder.index.{CurveIntervals, IndexSnapshot}
import org.sparkzorder.layout._
import org.sparkzorder.predicate.{BytesValue, Column, LongValue, StatsPredicate, Value, ValueRange, ValueRanges}
import org.sparkzorder.stats.KeyEncoding

/**
 * Leaves out files whose part of the curve holds no point of the query's box, though every column's bounds overlap it: a
 * file's rows need not fill the box around them.
 *
 * A file's interval counts only with the boundaries that its rows were placed by. Ids are monotone in the value, so the
 * rows that pass have ids between those of a range's ends. A column of another type now, or one whose values depend on
 * who reads, may have any id. Of Z-order and sorts only: on a Hilbert curve the next point of a box takes a search through
 * the cells, and with cuts at cell borders an interval is few boxes, which the bounds of the columns tell as well.
 */
private[skipping] object CurvePruning {

  /**
   * Takes files out of those to be kept. An interval is believed where the index has bounds of the same columns: whatever is
   * a reason to have none of a file's column is one not to conclude from where its rows lie.
   */
  def leaveOut(keep: BitSet, predicate: StatsPredicate, snapshot: IndexSnapshot): Unit =
    if (!keep.isEmpty) {
      val ranges = ValueRanges.of(predicate)
      if (ranges.nonEmpty) snapshot.intervals.foreach { intervals =>
        val ofFrames = intervals.frames.flatMap(_.columns.map(c => Column(c.key.path, c.key.dataType))).toSet
        val bounded = (for {
          column <- ranges.keySet & ofFrames
          stats <- snapshot.column(column.path, column.dataType)
        } yield column -> stats.bounded).toMap
        if (bounded.nonEmpty) leaveOut(keep, ranges.filter(r => bounded.contains(r._1)), bounded, intervals)
      }
    }

  /** The columns of the index's curves among those of a predicate. */
  def columns(predicate: StatsPredicate, snapshot: IndexSnapshot): Set[Column] = {
    val ranges = ValueRanges.of(predicate).keySet
    if (ranges.isEmpty) ranges
    else
      snapshot.intervals.fold(Set.empty[Column]) { i =>
        ranges & i.frames.flatMap(_.columns).map(c => Column(c.key.path, c.key.dataType)).toSet
      }
  }

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

  /** None when the query says nothing of the frame's columns. */
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
      // Ends that cross are of a predicate that nothing satisfies: that is for the bounds to say.
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
