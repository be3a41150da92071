package org.sparkzorder.workload

import java.nio.charset.StandardCharsets.UTF_8
import java.util.BitSet

import scala.util.Random

import org.apache.spark.sql.types.{DataType, LongType}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.layout.FileBounds
import org.sparkzorder.predicate.Column
import org.sparkzorder.stats._

class RankAxisSuite extends AnyFunSuite {
  private def longs(files: (Long, Long, Long)*): RankAxis =
    RankAxis.of(files.map { case (min, max, rows) => FileBounds.Longs(min, max) -> rows }.toIndexedSeq, false).get

  test("the example of the comment, and files with one value only, of whose rows half count as below it") {
    val axis = longs((0L, 100L, 10L), (50L, 150L, 10L))
    assert(Seq(-5L, 0L, 50L, 75L, 150L, 1000L).map(v => axis.rank(v)) == Seq(0d, 0d, 0.25, 0.5, 1d, 1d))
    val single = longs((5L, 5L, 30L), (0L, 4L, 10L), (6L, 10L, 20L))
    assert(math.abs(single.rank(5L) - 25d / 60) < 1e-9)
  }

  test("ranks rise with the value, from 0 to 1, for numbers, floats and strings") {
    val random = new Random(1)
    (1 to 100).foreach { i =>
      def value(): Any = i % 3 match {
        case 0 => random.nextLong()
        case 1 => OrderedValue.ofDouble(random.nextGaussian() * math.pow(10, random.nextInt(40).toDouble))
        case _ => s"https://example.org/${random.nextInt(100000)}".getBytes(UTF_8)
      }
      def less(a: Any, b: Any): Boolean = (a, b) match {
        case (x: Long, y: Long)               => x < y
        case (x: Array[Byte], y: Array[Byte]) => OrderedValue.compare(x, y) < 0
        case other                            => fail(other.toString)
      }
      val files = IndexedSeq.fill(random.nextInt(20) + 1) {
        val pair = Seq(value(), value()).sortWith(less)
        val bounds = (pair.head, pair.last) match {
          case (a: Long, b: Long)               => FileBounds.Longs(a, b)
          case (a: Array[Byte], b: Array[Byte]) => FileBounds.Bytes(a, b)
          case other                            => fail(other.toString)
        }
        (bounds: FileBounds) -> (random.nextInt(1000) + 1L)
      }
      val axis = RankAxis.of(files, floating = i % 3 == 1).get
      val ranks = Seq.fill(100)(value()).sortWith(less).map(axis.rank)
      assert(ranks.forall(r => r >= 0 && r <= 1), ranks)
      ranks.zip(ranks.tail).foreach { case (a, b) => assert(a <= b + 1e-9) }
    }
  }

  test("ranks of evenly spread values are their shares, whatever files they are in") {
    val random = new Random(2)
    val files = IndexedSeq.fill(5000) {
      val rows = IndexedSeq.fill(20)(random.nextInt(1000000).toLong)
      FileBounds.Longs(rows.min, rows.max) -> 20L
    }
    val axis = RankAxis.of(files, floating = false).get
    (0 to 20).foreach(i => assert(math.abs(axis.rank(i * 50000L) - i / 20d) < 0.04))
  }

  test("there is no axis without bounds, or if only some files have bounds") {
    assert(RankAxis.of(IndexedSeq(FileBounds.AllNull -> 0L, FileBounds.Unknown -> 5L), floating = false).isEmpty)
    def axes(bounded: Int*): Option[RankAxis] = {
      val set = new BitSet
      bounded.foreach(set.set)
      val known = new LongStatsColumn(Array(0, 1, 0), Array(5, 6, 0), set, Array(0, 0, 10), null)
      val statistics = new StatsTable {
        def files: Int = 3
        def rows: Array[Long] = Array(10, 10, 10)
        def column(path: Seq[String], dataType: DataType): Option[StatsColumn] = Some(known)
      }
      ColumnAxes.of(statistics, Column(Seq("a"), LongType))
    }
    assert(axes(0, 1).isDefined)
    assert(axes(0).isEmpty)
  }
}
