package org.sparkzorder.layout

import java.util.SplittableRandom

import org.scalacheck.Gen

import org.sparkzorder.PropertySuite

/** The bits of columns by their weights, and by their weights and values. */
class BitPlanSuite extends PropertySuite(1000) {
  private val random = new SplittableRandom(5)
  private val weights = Gen.choose(1, 9).flatMap(n => Gen.listOfN(n, Gen.oneOf(0.1, 0.5, 1d, 2d, 3.7, 8d, 1e9)))
  private val seed = Gen.choose(0L, Long.MaxValue)

  private def idsOf(plan: BitPlan, seed: Long): Array[Long] =
    Array.tabulate(plan.columns)(c => (seed >>> c) & ((1L << plan.bits(c)) - 1))

  private def names(plan: BitPlan): String = plan.sequence.mkString

  private def column(rows: Int)(value: Int => Long): ValueDistribution =
    ValueDistribution.ofLongs(Array.tabulate(rows)(value), 0)

  private def many(rows: Int = 20000): ValueDistribution = column(rows)(_ => random.nextLong(1L << 40))

  test("columns of equal weight take turns, and the first column leads") {
    for (n <- 1 to 8) {
      val plan = BitPlan(Seq.fill(n)(1d))
      assert(plan.totalBits == math.min(62, 20 * n))
      assert(plan.sequence == (0 until plan.totalBits).map(_ % n))
    }
    assert(names(BitShares.plan(Seq(1d, 1d, 1d), Seq(many(), many(), many()))).startsWith("012" * 9))
  }

  test("twice the weight is one bit earlier") {
    for ((weights, bits) <- Seq(Seq(1d, 2d) -> "101010", Seq(4d, 1d) -> "000101", Seq(0.8, 0.1, 0.1) -> "0000120"))
      assert(names(BitPlan(weights)).startsWith(bits))
  }

  test("one key alone owns all bits") {
    assert(BitPlan.forKeys(Seq(3d)).bits(0) == 62)
    assert(BitPlan.forKeys(Seq(1d, 1d)).totalBits == 40)
    assert(BitPlan.forKeys(Nil).totalBits == 0)
  }

  test("no bit is lost: the value of a point gives the point back") {
    forAll(weights, seed) { (w, seed) =>
      val plan = BitPlan(w)
      val ids = idsOf(plan, seed)
      val z = ZCurve.value(plan, ids)
      assert(z >= 0 && z < (1L << plan.totalBits))
      assert(ZCurve.point(plan, z).toSeq == ids.toSeq)
      assert((0 until plan.columns).map(plan.bits).sum == plan.totalBits)
      assert((0 until plan.columns).forall(plan.bits(_) <= 20))
    }
  }

  test("the value of the curve grows with each id") {
    forAll(weights, seed, Gen.choose(0, 8), Gen.choose(1L, 1L << 20)) { (w, seed, at, step) =>
      val plan = BitPlan(w)
      val c = at % plan.columns
      val ids = idsOf(plan, seed)
      val larger = ids.updated(c, math.min((1L << plan.bits(c)) - 1, ids(c) + step))
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

  test("a boolean takes one bit, and late if few rows are true, a column of three values two, and a constant none") {
    val few = Seq(column(20000)(i => i % 2L), column(20000)(i => i % 3L), column(20000)(_ => 7L))
    val plan = BitShares.plan(Seq.fill(4)(1d), few :+ many())
    assert(Seq(0, 1, 2).map(plan.bits) == Seq(1, 2, 0))
    assert(plan.bits(3) >= 14)
    val late = BitShares.plan(Seq(1d, 1d), Seq(column(20000)(i => if (i % 100 == 0) 1L else 0L), many()))
    assert(late.bits(0) == 1)
    assert(late.sequence.indexOf(0) >= 4)
  }

  test("eight rows cannot decide which column gets the next bit, but a weight can, which gets whole bits first") {
    val even = column(8)(i => i / 2L)
    val uneven = column(8)(i => Seq(0, 0, 0, 1, 2, 3, 3, 3)(i).toLong)
    assert(names(BitShares.plan(Seq(1d, 1d), Seq(uneven, even))) == "0101")
    assert(names(BitShares.plan(Seq(1d, 2d), Seq(even, even))) == "1010")
    for ((weights, bits) <- Seq(Seq(4d, 1d) -> "000101010", Seq(8d, 1d, 1d) -> "0000120120"))
      assert(names(BitShares.plan(weights, weights.map(_ => many()))).startsWith(bits))
  }

  test("a value that fills most rows does not take the bits of others") {
    val skewed = column(20000)(i => if (i % 10 != 0) 0L else random.nextLong(1L << 40))
    val plan = BitShares.plan(Seq(1d, 1d), Seq(skewed, many()))
    // This value makes 0.81 of its column's width, so more than a few bits gain little.
    assert(plan.sequence.take(8).count(_ == 1) >= 5)
  }

  test("a sort's plan takes column after column, and without rows, or with nulls only, there are no bits") {
    val plan = BitShares.lexicographic(Seq(column(1000)(i => i % 4L), many(1000)))
    assert(names(plan).startsWith("001111"))
    assert(BitShares.lexicographic(Seq(many(1000))).totalBits == BitPlan.MaxTotalBits)
    for (nulls <- Seq(0, 10)) {
      val none = ValueDistribution.ofLongs(Array.empty, nulls)
      assert(BitShares.plan(Seq(1d, 1d), Seq(none, none)).totalBits == 0)
    }
  }
}
