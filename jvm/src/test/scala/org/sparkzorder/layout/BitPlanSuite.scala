package org.sparkzorder.layout

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BitPlanSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  private val weights = Gen.choose(1, 9).flatMap(n => Gen.listOfN(n, Gen.oneOf(0.1, 0.5, 1d, 2d, 3.7, 8d, 1e9)))

  test("columns of equal weight take turns, and the first column leads") {
    for (n <- 1 to 8) {
      val plan = BitPlan(Seq.fill(n)(1d))
      assert(plan.totalBits == math.min(62, 20 * n))
      assert(plan.sequence == (0 until plan.totalBits).map(_ % n))
    }
  }

  test("twice the weight is one bit earlier") {
    assert(BitPlan(Seq(1d, 2d)).sequence.take(6) == Seq(1, 0, 1, 0, 1, 0))
    assert(BitPlan(Seq(4d, 1d)).sequence.take(6) == Seq(0, 0, 0, 1, 0, 1))
    assert(BitPlan(Seq(0.8, 0.1, 0.1)).sequence.take(7) == Seq(0, 0, 0, 0, 1, 2, 0))
  }

  test("one key alone owns all bits") {
    assert(BitPlan.forKeys(Seq(3d)).bits(0) == 62)
    assert(BitPlan.forKeys(Seq(1d, 1d)).totalBits == 40)
    assert(BitPlan.forKeys(Nil).totalBits == 0)
  }

  test("no bit is lost: the value of a point gives the point back") {
    forAll(weights, Gen.choose(0L, Long.MaxValue)) { (w, random) =>
      val plan = BitPlan(w)
      val ids = Array.tabulate(plan.columns)(c => (random >>> c) & ((1L << plan.bits(c)) - 1))
      val z = ZCurve.value(plan, ids)
      assert(z >= 0 && z < (1L << plan.totalBits))
      assert(ZCurve.point(plan, z).toSeq == ids.toSeq)
      assert((0 until plan.columns).map(plan.bits).sum == plan.totalBits)
      assert((0 until plan.columns).forall(plan.bits(_) <= 20))
    }
  }

  test("the value of the curve grows with each id") {
    val step = Gen.choose(1L, 1L << 20)
    forAll(weights, Gen.choose(0L, Long.MaxValue), Gen.choose(0, 8), step) { (w, random, at, step) =>
      val plan = BitPlan(w)
      val c = at % plan.columns
      val top = (1L << plan.bits(c)) - 1
      val ids = Array.tabulate(plan.columns)(i => (random >>> i) & ((1L << plan.bits(i)) - 1))
      val larger = ids.clone()
      larger(c) = math.min(top, ids(c) + step)
      whenever(larger(c) > ids(c)) {
        assert(ZCurve.value(plan, larger) > ZCurve.value(plan, ids))
      }
    }
  }

  test("the source documents' example: y = 214 and x = 97") {
    val plan = BitPlan(Seq(1d, 1d), maxBitsPerColumn = 8)
    assert(ZCurve.value(plan, Array(214L, 97L)).toBinaryString == "1011011000101001")
  }

  test("a bad weight, id or width is refused") {
    Seq(0d, -1d, Double.NaN, Double.PositiveInfinity).foreach { w =>
      assertThrows[IllegalArgumentException](BitPlan(Seq(1d, w)))
    }
    assertThrows[IllegalArgumentException](BitPlan(Seq(1d), maxBitsPerColumn = 63))
    assertThrows[IllegalArgumentException](BitPlan(Seq(1d), totalBits = 63))
    assertThrows[IllegalArgumentException](ZCurve.value(BitPlan(Seq(1d)), Array(1L << 20)))
  }
}
