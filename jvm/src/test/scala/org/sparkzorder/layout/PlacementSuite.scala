package org.sparkzorder.layout

import scala.util.Random

import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.stats.ColumnKey

class PlacementSuite extends AnyFunSuite {
  private val plan = BitPlan(Seq(1d, 1d), 6, 12)
  private val frame = {
    val distribution = ValueDistribution.ofLongs(Array(1L), 0)
    val columns = Seq("a", "b").map(n => FrameColumn(ColumnKey(Seq(n), LongType), lasting = true))
    new CurveFrame("f", columns.toIndexedSeq, IndexedSeq.fill(2)(distribution), plan)
  }

  private def keys(random: Random, n: Int): IndexedSeq[(Long, Long)] =
    IndexedSeq.fill(n)(random.nextInt(1 << (4 + random.nextInt(9))).toLong).zipWithIndex.map { case (z, i) =>
      (z, i.toLong)
    }.sorted

  test("each file of a cell is within this cell, and all other files are outside of the cells") {
    val random = new Random(3)
    for (_ <- 1 to 2000) {
      val sample = keys(random, random.nextInt(400))
      val borders = Seq.fill(random.nextInt(6))(random.nextInt(1 << 12).toLong).distinct.sorted.toIndexedSeq
      val (cells, until) =
        if (borders.length < 2) (IndexedSeq.empty[Long], 0L)
        else if (random.nextBoolean()) (borders, frame.last + 1)
        else (borders.init, borders.last)
      val placement = Placement(frame, cells, until, 1 + random.nextInt(40).toDouble)
      val cuts = placement.cuts(sample, LayoutShape(LayoutSpec.ZOrder, aligned = random.nextBoolean()))
      val intervals = CurveInterval.ofSlots(plan, cuts)
      assert(intervals.length == cuts.slots)
      assert(intervals.head._1 == 0 && intervals.last._2 == frame.last)
      sample.foreach { case (z, tie) =>
        val (low, high) = intervals(cuts.slot(z, tie))
        assert(low <= z && z <= high)
      }
      intervals.foreach { case (low, high) =>
        def cell(z: Long) = if (cells.isEmpty || z < cells.head || z >= until) -1 else cells.lastIndexWhere(_ <= z)
        assert(cell(low) == cell(high), s"$low to $high with cells $cells until $until")
        assert(placement.layer(low, high) == (if (cell(low) < 0) CurveInterval.Over else CurveInterval.Cell))
      }
    }
  }

  test("a cell of more than 1.5 times the target is cut, a smaller one is not") {
    val sample = IndexedSeq.tabulate(400)(i => (i.toLong, 0L)) ++ IndexedSeq.tabulate(140)(i => (2048L + i, 0L))
    val cells = IndexedSeq(0L, 2048L)
    val cuts = Placement(frame, cells, frame.last + 1, 5.4).cuts(sample, LayoutShape(LayoutSpec.ZOrder, aligned = true))
    val intervals = CurveInterval.ofSlots(plan, cuts)
    assert(intervals.count(_._1 >= 2048) == 1)
    assert((3 to 5).contains(intervals.count(_._1 < 2048)))
  }
}
