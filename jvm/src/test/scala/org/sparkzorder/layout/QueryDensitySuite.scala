package org.sparkzorder.layout

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class QueryDensitySuite extends AnyFunSuite {

  test("the example of the comment") {
    val data = ValueDistribution.ofLongs(Array(1, 2, 3, 4), 0)
    val mixed = QueryDensity.mixed(data, Array(0, 0, 0, 7), 0.5)
    assert((0 to 3).map(i => mixed.midCdf(2 * i + 2)) == Seq(1d / 16, 3d / 16, 5d / 16, 11d / 16))
    assert((0 to 3).map(i => mixed.id(2 * i + 2, 1)) == Seq(0, 0, 0, 1))
  }

  test("ids are the weighted mean of both distributions, and every value has a count") {
    val random = new Random(1)
    (1 to 300).foreach { _ =>
      val values = Array.fill(random.nextInt(300) + 1)(random.nextInt(50).toLong)
      val data = ValueDistribution.ofLongs(values, random.nextInt(20))
      val queries = Array.fill(data.distinct)(if (random.nextBoolean()) 0d else random.nextDouble() * 100)
      val share = random.nextInt(90) / 100d
      val mixed = QueryDensity.mixed(data, queries, share)
      assert(mixed.distinct == data.distinct && (0 until mixed.distinct).forall(mixed.count(_) > 0))
      val asked = queries.sum
      val below = queries.scanLeft(0d)(_ + _)
      (0 until data.distinct).foreach { i =>
        val ofQueries = if (asked == 0) data.midCdf(2 * i + 2) else (below(i) + below(i + 1)) / 2 / asked
        val expected = if (asked == 0) ofQueries else share * ofQueries + (1 - share) * data.midCdf(2 * i + 2)
        assert(math.abs(mixed.midCdf(2 * i + 2) - expected) < 0.02 + 2d / data.total, (share, values.toSeq))
      }
    }
  }

  test("without queries, or with a share of 0, the distribution stays the same") {
    val data = ValueDistribution.ofBytes(Array(Array[Byte](1), Array[Byte](2)), 3)
    assert(QueryDensity.mixed(data, Array(0, 0), 0.5) eq data)
    assert(QueryDensity.mixed(data, Array(1, 0), 0) eq data)
    assert(QueryDensity.mixed(data, Array(1, 0), 0.5).nulls == 12)
  }
}
