package org.sparkzorder.layout

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.stats.OrderedValue

class ClusteringDepthSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import FileBounds._

  private val file = Gen.frequency(
    8 -> Gen.zip(Gen.choose(0L, 30L), Gen.choose(0L, 10L)).map { case (a, n) => Longs(a, a + n) },
    1 -> Gen.const(Unknown),
    1 -> Gen.const(AllNull)
  )

  test("it is the same as counting value by value") {
    forAll(Gen.listOf(Gen.zip(file, Gen.choose(1L, 9L)))) { files =>
      val depth = ClusteringDepth.of(files)
      val values = files.collect { case (Longs(a, b), _) => a to b }.flatten.distinct
      def held(v: Long) = files.count { case (Longs(a, b), _) => a <= v && v <= b; case (f, _) => f == Unknown }
      if (values.nonEmpty) {
        val drawn = files.collect { case (Longs(a, b), n) => (a to b).map(_ -> n.toDouble / (b - a + 1)) }.flatten
        val mean = drawn.map { case (v, n) => held(v) * n }.sum / drawn.map(_._2).sum
        assert(math.abs(depth.mean - mean) < 1e-6)
        assert(depth.max == values.map(held).max)
        depth.histogram.zipWithIndex.foreach { case (n, d) =>
          assert(math.abs(n - drawn.collect { case (v, rows) if held(v) == d => rows }.sum) < 0.501)
        }
      } else assert(depth.mean == files.count(_._1 == Unknown) && depth.histogram.sum == rowsOf(files))
    }
  }

  private def rowsOf(files: Seq[(FileBounds, Long)]): Long = files.collect { case (Unknown, n) => n }.sum

  test("byte strings count as fractions, whatever they begin with") {
    def text(v: Long): Array[Byte] = "https://example.com/".getBytes :+ (4 * v).toByte
    forAll(Gen.listOf(Gen.zip(file, Gen.choose(1L, 9L)))) { files =>
      val strings = ClusteringDepth.of(files.map {
        case (Longs(a, b), n) => Bytes(text(a), text(b)) -> n
        case other            => other
      })
      // Doubles are not whole numbers either, so they must give the same.
      val doubles = ClusteringDepth.of(
        files.map {
          case (Longs(a, b), n) => Longs(OrderedValue.ofDouble(a.toDouble), OrderedValue.ofDouble(b.toDouble)) -> n
          case other            => other
        },
        floating = true
      )
      assert(math.abs(strings.mean - doubles.mean) < 1e-6)
      assert(strings.max == doubles.max)
    }
  }

  test("a value is in one of many sorted files, and in all of many unsorted files") {
    val sorted = (0L until 100L).map(i => Longs(10 * i, 10 * i + 9) -> 5L)
    assert(ClusteringDepth.of(sorted) == ClusteringDepth(1d, 1, IndexedSeq(0, 500)))
    val equal = Seq.fill(100)(Longs(0, 1000) -> 5L)
    assert(near(ClusteringDepth.of(equal), 100d) && ClusteringDepth.of(equal).histogram == Seq.fill(100)(0L) :+ 500L)
    // No two of these files have a bound in common, but each spans nearly all values.
    val random = (0L until 100L).map(i => Longs(i, 1000000 - i) -> 5L)
    assert(ClusteringDepth.of(random).mean > 99.9)
  }

  private def near(depth: ClusteringDepth, mean: Double): Boolean = math.abs(depth.mean - mean) < 1e-6

  test("extreme values: the largest longs, infinity, a single value, and empty strings") {
    val wide = Seq(Longs(Long.MinValue, 0) -> 5L, Longs(0, Long.MaxValue) -> 5L)
    assert(near(ClusteringDepth.of(wide), 1d) && ClusteringDepth.of(wide).max == 2)
    val infinite = Seq(Double.NegativeInfinity -> 0d, 0d -> Double.PositiveInfinity).map { case (a, b) =>
      Longs(OrderedValue.ofDouble(a), OrderedValue.ofDouble(b)) -> 5L
    }
    assert(near(ClusteringDepth.of(infinite, floating = true), 1d))
    assert(ClusteringDepth.of(Seq.fill(3)(Longs(7, 7) -> 5L)) == ClusteringDepth(3d, 3, IndexedSeq(0, 0, 0, 15)))
    val empty = Seq.fill(3)(Bytes(Array.empty, Array.empty) -> 5L)
    assert(ClusteringDepth.of(empty) == ClusteringDepth(3d, 3, IndexedSeq(0, 0, 0, 15)))
    assert(ClusteringDepth.of(Nil) == ClusteringDepth(0d, 0, IndexedSeq.empty))
    assert(ClusteringDepth.of(Seq(AllNull -> 0L)) == ClusteringDepth(0d, 0, IndexedSeq.empty))
  }

  test("a lookup of a number reads no file for its NaN, and one of NaN all files that may have it") {
    def numbers(a: Double, b: Double) = Longs(OrderedValue.ofDouble(a), OrderedValue.ofDouble(b))
    val files = Seq(
      LongsOrNaN(Some(numbers(0, 1)), 0.2) -> 10L,
      LongsOrNaN(Some(numbers(2, 3)), 0d) -> 10L,
      LongsOrNaN(None, 1d) -> 10L,
      numbers(4, 5) -> 10L
    )
    val depth = ClusteringDepth.of(files, floating = true)
    assert(depth.histogram == IndexedSeq(0, 28, 0, 12) && depth.max == 3)
    assert(math.abs(depth.mean - (28 + 3 * 12) / 40d) < 1e-9)
    val sample = ValueDistribution.ofLongs(
      (Seq.fill(7)(0.5) ++ Seq.fill(7)(2.5) ++ Seq.fill(14)(4.5) ++ Seq.fill(12)(Double.NaN)).map(OrderedValue.ofDouble)
        .toArray,
      nulls = 3
    )
    assert(math.abs(FilesTouched.mean(sample, files.map(_._1)) - depth.mean) < 1e-9)
  }

  test("the bound is one file for one column, and F^(1 - 1/D)") {
    assert(ClusteringDepth.bound(1000, 1) == 1d)
    assert(math.abs(ClusteringDepth.bound(1000, 3) - 100d) < 1e-9)
    assert(ClusteringDepth.bound(0, 3) == 0d)
  }

  test("a value with many rows is in many files, however they are laid out") {
    assert(ClusteringDepth.bound(16, 2, Seq(1d)) == 16d)
    assert(ClusteringDepth.bound(16, 1, Seq(1d)) == 16d)
    assert(ClusteringDepth.bound(16, 2, Seq(0.5, 0.5)) == 8d)
    assert(ClusteringDepth.bound(16, 2, Seq(0.5)) == 6d)
    assert(ClusteringDepth.bound(16, 2, Seq.fill(4)(0.25)) == 4d)
    val (a, b) = ("a".getBytes, "b".getBytes)
    val files = Seq(FileBounds.Bytes(a, a) -> 30L, FileBounds.Bytes(a.clone(), a) -> 30L, FileBounds.Bytes(a, b) -> 40L)
    assert(ClusteringDepth.shares(files) == Seq(0.6))
    assert(ValueDistribution.ofLongs(Array(7L, 7L, 7L, 9L), nulls = 4).shares == Seq(0.75, 0.25))
  }
}
