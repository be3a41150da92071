package org.sparkzorder.layout

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class DistinctValuesSuite extends AnyFunSuite {

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
    def wanted(distinct: Int, files: Int, columns: Int) =
      DistinctValues.wantBloomFilter(
        sampleOf(row => (row % distinct).toLong, rows, 10000, random),
        rows.toLong,
        files,
        columns
      )
    // With 100 files and two columns, a value is within the bounds of ten files at best.
    assert(wanted(rows, 100, 2))
    assert(wanted(200000, 100, 2))
    assert(!wanted(50000, 100, 2))
    assert(!wanted(10, 100, 2))
    // In a sorted column, a value is within the bounds of one file.
    assert(!wanted(rows, 100, 1))
    assert(!DistinctValues.wantBloomFilter(ValueDistribution.ofLongs(Array.empty, 7), 70, 100, 3))
  }
}
