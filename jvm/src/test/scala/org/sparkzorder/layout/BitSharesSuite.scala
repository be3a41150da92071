package org.sparkzorder.layout

import java.util.SplittableRandom

import org.scalatest.funsuite.AnyFunSuite

class BitSharesSuite extends AnyFunSuite {
  private val random = new SplittableRandom(5)

  private def column(rows: Int)(value: Int => Long): ValueDistribution =
    ValueDistribution.ofLongs(Array.tabulate(rows)(value), 0)

  private def many(rows: Int = 20000): ValueDistribution = column(rows)(_ => random.nextLong(1L << 40))

  private def names(plan: BitPlan): String = plan.sequence.mkString

  test("columns of many values take turns") {
    val plan = BitShares.plan(Seq(1d, 1d, 1d), Seq(many(), many(), many()))
    assert(names(plan).take(27) == "012" * 9)
  }

  test("a boolean takes one bit, a column of three values two, and a constant none") {
    val plan = BitShares.plan(
      Seq(1d, 1d, 1d, 1d),
      Seq(column(20000)(i => i % 2L), column(20000)(i => i % 3L), column(20000)(_ => 7L), many())
    )
    assert(Seq(0, 1, 2).map(plan.bits) == Seq(1, 2, 0))
    assert(plan.bits(3) >= 14)
  }

  test("a boolean with few true rows takes its one bit late") {
    val plan = BitShares.plan(Seq(1d, 1d), Seq(column(20000)(i => if (i % 100 == 0) 1L else 0L), many()))
    assert(plan.bits(0) == 1)
    assert(plan.sequence.indexOf(0) >= 4)
  }

  test("eight rows cannot decide which column gets the next bit, but a weight can") {
    val even = column(8)(i => i / 2L)
    val uneven = column(8)(i => Seq(0, 0, 0, 1, 2, 3, 3, 3)(i).toLong)
    assert(names(BitShares.plan(Seq(1d, 1d), Seq(uneven, even))) == "0101")
    assert(names(BitShares.plan(Seq(1d, 2d), Seq(even, even))) == "1010")
  }

  test("a heavier column gets whole bits first") {
    assert(names(BitShares.plan(Seq(4d, 1d), Seq(many(), many()))).take(9) == "000101010")
    assert(names(BitShares.plan(Seq(8d, 1d, 1d), Seq(many(), many(), many()))).take(10) == "0000120120")
  }

  test("a value that fills most rows does not take the bits of others") {
    val skewed = column(20000)(i => if (i % 10 != 0) 0L else random.nextLong(1L << 40))
    val plan = BitShares.plan(Seq(1d, 1d), Seq(skewed, many()))
    // This value makes 0.81 of its column's width, so more than a few bits gain little.
    assert(plan.sequence.take(8).count(_ == 1) >= 5)
  }

  test("a sort's plan takes column after column") {
    val plan = BitShares.lexicographic(Seq(column(1000)(i => i % 4L), many(1000)))
    assert(names(plan).startsWith("001111"))
    assert(BitShares.lexicographic(Seq(many(1000))).totalBits == BitPlan.MaxTotalBits)
  }

  test("without rows, or with nulls only, there are no bits") {
    val empty = ValueDistribution.ofLongs(Array.empty, 0)
    val nulls = ValueDistribution.ofLongs(Array.empty, 10)
    assert(BitShares.plan(Seq(1d, 1d), Seq(empty, empty)).totalBits == 0)
    assert(BitShares.plan(Seq(1d, 1d), Seq(nulls, nulls)).totalBits == 0)
  }
}
