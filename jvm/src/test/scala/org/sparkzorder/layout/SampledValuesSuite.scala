package org.sparkzorder.layout

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** What a sampled distribution tells: how far new rows are from it, what is asked, how many values there are. */
class SampledValuesSuite extends AnyFunSuite {
  private val random = new Random(4)
  private val known = ValueDistribution.ofLongs(Array.fill(2000)(random.nextInt(10000).toLong), nulls = 100)

  private def drift(values: Seq[Long]): DistributionDrift =
    DistributionDrift.of(IndexedSeq(known), values.map(v => IndexedSeq(known.place(v))).toIndexedSeq)

  test("there is no drift if new rows are like the old ones, and it is total if all of them are above these") {
    val like = drift(Seq.fill(2000)(random.nextInt(10000).toLong))
    assert(like.distance < 0.12 && like.beyond < 0.01 && like.fits)
    val above = drift((20000L until 21000L).toSeq)
    assert(above.distance == 1 && above.beyond == 1 && !above.fits)
  }

  test("new rows of a single old value are far from the distribution, but the boundaries fit; null is a value") {
    val single = drift(Seq.fill(1000)(known.values(1000)))
    assert(single.distance > 0.4 && single.beyond == 0 && single.fits)
    val d = DistributionDrift.of(IndexedSeq(known), IndexedSeq.fill(10)(IndexedSeq(0)))
    assert(math.abs(d.distance - 2000d / 2100) < 1e-9 && d.fits)
    assert(DistributionDrift.of(IndexedSeq(known), IndexedSeq.empty) == DistributionDrift(0, 0))
  }

  test("the example of the comment") {
    val data = ValueDistribution.ofLongs(Array(1, 2, 3, 4), 0)
    val mixed = QueryDensity.mixed(data, Array(0, 0, 0, 7), 0.5)
    assert((0 to 3).map(i => mixed.midCdf(2 * i + 2)) == Seq(1d / 16, 3d / 16, 5d / 16, 11d / 16))
    assert((0 to 3).map(i => mixed.id(2 * i + 2, 1)) == Seq(0, 0, 0, 1))
    // Without queries, or with a share of 0, the distribution stays the same.
    val bytes = ValueDistribution.ofBytes(Array(Array[Byte](1), Array[Byte](2)), 3)
    assert(QueryDensity.mixed(bytes, Array(0, 0), 0.5) eq bytes)
    assert(QueryDensity.mixed(bytes, Array(1, 0), 0) eq bytes)
    assert(QueryDensity.mixed(bytes, Array(1, 0), 0.5).nulls == 12)
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

  private def sampleOf(values: Int => Long, rows: Int, size: Int, random: Random): ValueDistribution =
    ValueDistribution.ofLongs(Array.fill(size)(values(random.nextInt(rows))), 0)

  test("the number of equally frequent values is estimated well from one row in six hundred") {
    val random = new Random(1)
    val rows = 6000000
    Seq(10000, 100000, 200000).foreach { distinct =>
      val sample = sampleOf(row => (row % distinct).toLong, rows, 10000, random)
      val found = DistinctValues.estimate(sample, rows.toLong)
      assert(math.abs(found / distinct - 1) < 0.15, s"$found of $distinct")
    }
  }

  test("an estimate is between the sampled values and the rows that are not null, and exact if all rows are sampled") {
    val random = new Random(2)
    (1 to 2000).foreach { _ =>
      val size = 1 + random.nextInt(200)
      val nulls = random.nextInt(50)
      val values = Array.fill(size)(random.nextInt(1 + random.nextInt(1000)).toLong)
      val sample = ValueDistribution.ofLongs(values, nulls)
      val rows = (size + nulls) * (1L + random.nextInt(5))
      val found = DistinctValues.estimate(sample, rows)
      assert(found >= sample.distinct)
      assert(found <= rows.toDouble * size / (size + nulls) + 1e-6)
      if (rows == size + nulls) assert(found == sample.distinct)
    }
    assert(DistinctValues.estimate(ValueDistribution.ofLongs(Array.empty, 0), 10) == 0)
    assert(DistinctValues.estimate(ValueDistribution.ofLongs(Array.empty, 7), 70) == 0)
  }

  test("a Bloom filter is wanted where a value has fewer rows than a lookup reads files") {
    val random = new Random(3)
    val rows = 1000000
    def wanted(distinct: Int, files: Int, columns: Int) = {
      val sample = sampleOf(row => (row % distinct).toLong, rows, 10000, random)
      DistinctValues.wantBloomFilter(sample, rows.toLong, files, columns)
    }
    // With 100 files and two columns, a value is within the bounds of ten files at best.
    assert(Seq(rows, 200000, 50000, 10).map(wanted(_, 100, 2)) == Seq(true, true, false, false))
    // In a sorted column, a value is within the bounds of one file.
    assert(!wanted(rows, 100, 1))
    assert(!DistinctValues.wantBloomFilter(ValueDistribution.ofLongs(Array.empty, 7), 70, 100, 3))
  }
}
