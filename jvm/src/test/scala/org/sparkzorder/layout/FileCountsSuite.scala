package org.sparkzorder.layout

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class FileCountsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  private val size = Gen.frequency(1 -> Gen.const(0L), 4 -> Gen.choose(1L, 1L << 45))
  private val sizes = Gen.choose(1, 30).flatMap(Gen.listOfN(_, size))

  test("by size: the nearest number of files, at least one") {
    assert(FileCounts.bySize(Seq(0L, 49L, 149L, 150L, 1000L), 100L) == Seq(1, 1, 1, 2, 10))
    assert(FileCounts.bySize(Seq(Long.MaxValue), Long.MaxValue) == Seq(1))
    assertThrows[IllegalArgumentException](FileCounts.bySize(Seq(1L), 0L))
  }

  test("by number: all files are shared out, at least one to each unit, and more to larger units") {
    forAll(sizes, Gen.choose(1, 5000)) { (bytes, n) =>
      val counts = FileCounts.byNumber(bytes, n)
      assert(counts.sum == math.max(n, bytes.length))
      assert(counts.forall(_ >= 1))
      val ordered = bytes.zip(counts).sorted
      assert(ordered.zip(ordered.drop(1)).forall { case ((b, x), (c, y)) => b == c || x <= y })
    }
  }

  test("by number: shares, remainders and ties") {
    assert(FileCounts.byNumber(Seq(70L, 20L, 9L, 1L), 10) == Seq(6, 2, 1, 1))
    assert(FileCounts.byNumber(Seq(1L, 1L, 1L), 4) == Seq(2, 1, 1))
    assert(FileCounts.byNumber(Seq(0L, 0L), 4) == Seq(2, 2))
    assert(FileCounts.byNumber(Seq(5L), 7) == Seq(7))
    assert(FileCounts.byNumber(Nil, 7) == Nil)
  }
}
