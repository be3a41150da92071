package org.sparkzorder.layout

import java.util.Arrays

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ValueDistributionSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 2000)

  private val value: Gen[Long] =
    Gen.frequency(
      5 -> Gen.choose(-20L, 20L),
      1 -> Gen.oneOf(Long.MinValue, Long.MaxValue),
      2 -> Gen.choose(Long.MinValue, Long.MaxValue)
    )
  private val sample: Gen[List[Long]] = Gen.choose(0, 60).flatMap(Gen.listOfN(_, value))
  private val text: Gen[Array[Byte]] =
    Gen.choose(0, 4).flatMap(Gen.listOfN(_, Gen.oneOf(0, 1, 97, 127, -128, -1))).map(_.map(_.toByte).toArray)
  private val width = Gen.choose(1, 62)

  test("ids of longs are monotone, nulls first, and fit their width") {
    forAll(sample, Gen.choose(0, 40), value, value, width) { (values, nulls, a, b, bits) =>
      val d = ValueDistribution.ofLongs(values.toArray, nulls)
      val low = d.id(d.place(math.min(a, b)), bits)
      val high = d.id(d.place(math.max(a, b)), bits)
      assert(0 <= d.id(0, bits) && d.id(0, bits) <= low && low <= high && high < (1L << bits))
    }
  }

  test("ids of byte strings are monotone as unsigned bytes") {
    forAll(Gen.listOf(text), Gen.choose(0, 40), text, text, width) { (values, nulls, a, b, bits) =>
      val d = ValueDistribution.ofBytes(values.toArray, nulls)
      val (x, y) = if (Arrays.compareUnsigned(a, b) <= 0) (a, b) else (b, a)
      val low = d.id(d.place(x), bits)
      val high = d.id(d.place(y), bits)
      assert(0 <= d.id(0, bits) && d.id(0, bits) <= low && low <= high && high < (1L << bits))
    }
  }

  test("an id is the floor of the middle of its value's share") {
    forAll(sample.suchThat(_.nonEmpty), Gen.choose(0, 40), value, Gen.choose(1, 30)) { (values, nulls, v, bits) =>
      val d = ValueDistribution.ofLongs(values.toArray, nulls)
      val twice = 2L * (nulls + values.count(_ < v)) + values.count(_ == v)
      val expected = (BigInt(twice) * (1L << bits) / (2L * (values.length + nulls))).min(BigInt((1L << bits) - 1))
      assert(BigInt(d.id(d.place(v), bits)) == expected)
    }
  }

  test("sampled values are counted") {
    forAll(sample, Gen.choose(0, 40)) { (values, nulls) =>
      val d = ValueDistribution.ofLongs(values.toArray, nulls)
      assert(d.total == values.length + nulls)
      assert(d.values.toSeq == values.distinct.sorted)
      assert((0 until d.distinct).forall(i => d.count(i) == values.count(_ == d.values(i))))
    }
  }

  test("a thinned distribution has so many values, the same ends, and ids that differ by the rows of a boundary") {
    forAll(Gen.listOfN(400, value), Gen.choose(0, 40), Gen.choose(3, 200), value) { (values, nulls, most, v) =>
      val d = ValueDistribution.ofLongs(values.toArray, nulls)
      val few = d.thinned(most)
      assert(few.distinct <= most && few.total == d.total && few.nulls == nulls)
      assert(few.values.head == values.min && few.values.last == values.max)
      assert(few.values.forall(d.values.contains) && few.values.toSeq == few.values.toSeq.sorted.distinct)
      assert(few.midCdf(0) == d.midCdf(0))
      // Twice as many rows as are a fair share: where one value has that many, it is a boundary, and exact.
      val share = 2 * 1.25 * 400.0 / (most - 2) / d.total
      val of = values.count(_ == v)
      if (few.values.contains(v) && of > share * d.total) assert(few.midCdf(few.place(v)) == d.midCdf(d.place(v)))
      assert(math.abs(few.midCdf(few.place(v)) - d.midCdf(d.place(v))) <= share, s"$v of $values")
    }
    val texts = ValueDistribution.ofBytes(Array.tabulate(1000)(i => f"$i%04d".getBytes), 0)
    val few = texts.thinned(10)
    assert(few.distinct <= 10 && few.values.map(new String(_)).toSeq.sorted == few.values.map(new String(_)).toSeq)
    assert(texts.thinned(1000) eq texts)
  }

  test("half nulls, then 7 7 8 9") {
    val d = ValueDistribution.ofLongs(Array(9L, 7L, 8L, 7L), 4)
    assert(d.midCdf(0) == 0.25)
    assert(d.midCdf(d.place(7)) == 0.625)
    assert(d.midCdf(d.place(8)) == 0.8125)
    assert(d.midCdf(d.place(6)) == 0.5)
    assert(d.midCdf(d.place(10)) == 1.0)
    assert(d.id(d.place(10), 20) == (1 << 20) - 1)
  }

  test("an empty sample and a sample of nulls know one id a side") {
    val none = ValueDistribution.ofLongs(Array.emptyLongArray, 0)
    assert(none.id(0, 20) == 0 && none.id(none.place(5), 20) == 0)
    val nulls = ValueDistribution.ofLongs(Array.emptyLongArray, 10)
    assert(nulls.id(0, 20) == 1 << 19 && nulls.id(nulls.place(5), 20) == (1 << 20) - 1)
  }
}
