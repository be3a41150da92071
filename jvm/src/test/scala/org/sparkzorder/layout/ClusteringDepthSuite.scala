package org.sparkzorder.layout

import org.scalacheck.Gen

import org.sparkzorder.PropertySuite
import org.sparkzorder.stats.OrderedValue

class ClusteringDepthSuite extends PropertySuite(10) {
  import FileBounds._

  private def numbers(a: Double, b: Double) = Longs(OrderedValue.ofDouble(a), OrderedValue.ofDouble(b))
  private def near(depth: ClusteringDepth, mean: Double): Boolean = math.abs(depth.mean - mean) < 1e-6
  private val range = Gen.zip(Gen.choose(0L, 30L), Gen.choose(0L, 10L)).map { case (a, n) => Longs(a, a + n) }
  private val file = Gen.frequency(8 -> range, 1 -> Gen.const(Unknown), 1 -> Gen.const(AllNull))

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
      } else {
        assert(depth.mean == files.count(_._1 == Unknown))
        assert(depth.histogram.sum == files.collect { case (Unknown, n) => n }.sum)
      }
    }
  }

  test("byte strings count as fractions, whatever they begin with") {
    def text(v: Long): Array[Byte] = "https://example.com/".getBytes :+ (4 * v).toByte
    forAll(Gen.listOf(Gen.zip(file, Gen.choose(1L, 9L)))) { files =>
      val strings = ClusteringDepth.of(files.map {
        case (Longs(a, b), n) => Bytes(text(a), text(b)) -> n
        case other            => other
      })
      // Doubles are not whole numbers either, so they must give the same.
      val doubles = files.map {
        case (Longs(a, b), n) => numbers(a.toDouble, b.toDouble) -> n
        case other            => other
      }
      val depth = ClusteringDepth.of(doubles, floating = true)
      assert(near(strings, depth.mean))
      assert(strings.max == depth.max)
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

  test("extreme values: the largest longs, infinity, a single value, and empty strings") {
    val wide = Seq(Longs(Long.MinValue, 0) -> 5L, Longs(0, Long.MaxValue) -> 5L)
    assert(near(ClusteringDepth.of(wide), 1d) && ClusteringDepth.of(wide).max == 2)
    val infinite = Seq(numbers(Double.NegativeInfinity, 0d) -> 5L, numbers(0d, Double.PositiveInfinity) -> 5L)
    assert(near(ClusteringDepth.of(infinite, floating = true), 1d))
    for (one <- Seq(Longs(7, 7), Bytes(Array.empty, Array.empty)))
      assert(ClusteringDepth.of(Seq.fill(3)(one -> 5L)) == ClusteringDepth(3d, 3, IndexedSeq(0, 0, 0, 15)))
    for (none <- Seq(Nil, Seq(AllNull -> 0L)))
      assert(ClusteringDepth.of(none) == ClusteringDepth(0d, 0, IndexedSeq.empty))
  }

  test("a lookup of a number reads no file for its NaN, and one of NaN all files that may have it") {
    val mixed = Seq(Some(numbers(0, 1)) -> 0.2, Some(numbers(2, 3)) -> 0d, None -> 1d)
    val files = mixed.map { case (known, share) => LongsOrNaN(known, share) -> 10L } :+ (numbers(4, 5) -> 10L)
    val depth = ClusteringDepth.of(files, floating = true)
    assert(depth.histogram == IndexedSeq(0, 28, 0, 12) && depth.max == 3)
    assert(math.abs(depth.mean - (28 + 3 * 12) / 40d) < 1e-9)
    val values = Seq(7 -> 0.5, 7 -> 2.5, 14 -> 4.5, 12 -> Double.NaN).flatMap { case (n, v) => Seq.fill(n)(v) }
    val sample = ValueDistribution.ofLongs(values.map(OrderedValue.ofDouble).toArray, nulls = 3)
    assert(math.abs(FilesTouched.mean(sample, files.map(_._1)) - depth.mean) < 1e-9)
  }

  test("the bound is one file for one column, and F^(1 - 1/D), and more where a value has many rows") {
    val bounds = Seq((1000L, 1, Nil, 1d), (1000L, 3, Nil, 100d), (0L, 3, Nil, 0d), (16L, 2, Seq(1d), 16d)) ++
      Seq((16L, 1, Seq(1d), 16d), (16L, 2, Seq(0.5, 0.5), 8d), (16L, 2, Seq(0.5), 6d), (16L, 2, Seq.fill(4)(0.25), 4d))
    bounds.foreach { case (files, columns, shares, bound) =>
      assert(math.abs(ClusteringDepth.bound(files, columns, shares) - bound) < 1e-9, (files, columns, shares))
    }
  }

  test("the values with the most rows, by files that hold one value alone, and by a sample") {
    val (a, b) = ("a".getBytes, "b".getBytes)
    val files = Seq(Bytes(a, a) -> 30L, Bytes(a.clone(), a) -> 30L, Bytes(a, b) -> 40L)
    assert(ClusteringDepth.shares(files) == Seq(0.6))
    assert(ValueDistribution.ofLongs(Array(7L, 7L, 7L, 9L), nulls = 4).shares == Seq(0.75, 0.25))
  }
}
