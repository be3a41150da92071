package org.sparkzorder.layout

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.InRest

class CutsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 2000)

  private val key = Gen.zip(Gen.choose(0L, 6L), Gen.choose(0L, 9L))
  private val sample = Gen.choose(0, 200).flatMap(Gen.listOfN(_, key)).map(_.sorted.toIndexedSeq)

  test("there are as many files as asked for, or as distinct keys, and none is empty") {
    forAll(sample, Gen.choose(1, 80)) { (keys, n) =>
      val cuts = Cuts.equal(keys, n)
      assert(cuts.slots == math.max(1, math.min(n, keys.distinct.length)))
      assert(cuts.keys == cuts.keys.distinct.sorted)
      if (keys.nonEmpty) {
        assert(keys.map { case (z, t) => cuts.slot(z, t) }.toSet == (0 until cuts.slots).toSet)
      }
    }
  }

  test("slots follow the keys and begin at the cuts") {
    forAll(sample, Gen.choose(1, 80), key, key) { (keys, n, a, b) =>
      val cuts = Cuts.equal(keys, n)
      val (low, high) = if (Ordering[(Long, Long)].lteq(a, b)) (a, b) else (b, a)
      assert(cuts.slot(low._1, low._2) <= cuts.slot(high._1, high._2))
      assert(cuts.slot(a._1, a._2) == cuts.keys.count(Ordering[(Long, Long)].lteq(_, a)))
    }
  }

  test("files of distinct keys are equal to within one row", InRest) {
    forAll(Gen.choose(1, 500), Gen.choose(1, 60), Gen.choose(1L, 500L)) { (rows, n, zs) =>
      // With few values of z, one value fills many files.
      val keys = (0 until rows).map(i => (i * zs / rows, i.toLong))
      val sizes = keys.groupBy { case (z, t) => Cuts.equal(keys, n).slot(z, t) }.values.map(_.size)
      assert(sizes.size == math.min(n, rows))
      assert(sizes.max - sizes.min <= 1)
    }
  }

  test("all rows equal except their ties, and all rows equal") {
    val equal = (0 until 1000).map(i => (7L, i.toLong))
    assert(equal.groupBy { case (z, t) => Cuts.equal(equal, 10).slot(z, t) }.values.map(_.size).toSet == Set(100))
    assert(Cuts.equal(IndexedSeq.fill(1000)((7L, 7L)), 10).slots == 1)
    assert(Cuts.equal(IndexedSeq.empty, 10).slots == 1)
  }

  test("cuts at given keys must increase") {
    assert(Cuts.at(Seq((1L, 5L), (2L, 0L))).slots == 3)
    assertThrows[IllegalArgumentException](Cuts.at(Seq((1L, 5L), (1L, 5L))))
    assertThrows[IllegalArgumentException](Cuts.equal(IndexedSeq((1L, 1L)), 0))
  }
}
