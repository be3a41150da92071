package org.sparkzorder.layout

import java.util.Arrays

import scala.util.Random

import org.scalacheck.Gen

import org.sparkzorder.{InRest, PropertySuite}

/** Distributions of sampled values, and what they tell: how far new rows are, and how many values there are. */
class ValueDistributionSuite extends PropertySuite(2000) {
  private val any = Gen.choose(Long.MinValue, Long.MaxValue)
  private val value: Gen[Long] =
    Gen.frequency(5 -> Gen.choose(-20L, 20L), 1 -> Gen.oneOf(Long.MinValue, Long.MaxValue), 2 -> any)
  private val sample: Gen[List[Long]] = Gen.choose(0, 60).flatMap(Gen.listOfN(_, value))
  private val text: Gen[Array[Byte]] =
    Gen.choose(0, 4).flatMap(Gen.listOfN(_, Gen.oneOf(0, 1, 97, 127, -128, -1))).map(_.map(_.toByte).toArray)
  private val width = Gen.choose(1, 62)

  private def isMonotone(d: ValueDistribution, low: Int, high: Int, bits: Int): Unit = {
    val ids = Seq(0, low, high).map(d.id(_, bits))
    assert(ids == ids.sorted && ids.head >= 0 && ids.last < (1L << bits))
    ()
  }

  test("sampled longs are counted, and ids are monotone, nulls first, and fit their width") {
    forAll(sample, Gen.choose(0, 40), value, value, width) { (values, nulls, a, b, bits) =>
      val d = ValueDistribution.ofLongs(values.toArray, nulls)
      assert(d.total == values.length + nulls)
      assert(d.values.toSeq == values.distinct.sorted)
      assert((0 until d.distinct).forall(i => d.count(i) == values.count(_ == d.values(i))))
      isMonotone(d, d.place(math.min(a, b)), d.place(math.max(a, b)), bits)
    }
  }

  test("ids of byte strings are monotone as unsigned bytes") {
    forAll(Gen.listOf(text), Gen.choose(0, 40), text, text, width) { (values, nulls, a, b, bits) =>
      val d = ValueDistribution.ofBytes(values.toArray, nulls)
      val (low, high) = if (Arrays.compareUnsigned(a, b) <= 0) (a, b) else (b, a)
      isMonotone(d, d.place(low), d.place(high), bits)
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

  test("a thinned distribution has few values, the same ends, and ids that differ by two boundaries at most") {
    forAll(Gen.listOfN(400, value), Gen.choose(0, 40), Gen.choose(3, 200), Gen.choose(1, 20), value) {
      (values, nulls, most, files, v) =>
        val d = ValueDistribution.ofLongs(values.toArray, nulls)
        val few = d.thinned(most, files)
        assert(few.distinct <= most && few.total == d.total && few.nulls == nulls)
        assert(few.values.head == values.min && few.values.last == values.max)
        assert(few.values.toSeq == few.values.toSeq.sorted.distinct)
        assert((0 until few.distinct).forall(few.count(_) > 0))
        assert(few.midCdf(0) == d.midCdf(0))
        // Twice the fair share of rows. A value with more rows is a boundary by itself, and its id is exact.
        val share = 2 * 1.25 * 400.0 / math.max(1, most - 2 - files) / d.total
        assert(math.abs(few.midCdf(few.place(v)) - d.midCdf(d.place(v))) <= share, s"$v of $values")
        // In order, as before.
        val sorted = values.sorted.map(few.place)
        assert(sorted == sorted.sorted)
    }
    val texts = ValueDistribution.ofBytes(Array.tabulate(1000)(i => f"$i%04d".getBytes), 0)
    val few = texts.thinned(10)
    assert(few.distinct <= 10 && few.values.map(new String(_)).toSeq.sorted == few.values.map(new String(_)).toSeq)
    assert(texts.thinned(1000) eq texts)
  }

  test("values between two boundaries have the id of the middle of their group") {
    // The example of `thinned`: the groups are 1, 2 to 4, 5 to 7, and 8.
    val few = ValueDistribution.ofLongs(Array.tabulate(8)(_ + 1L), 0).thinned(4)
    assert(few.values.toSeq == Seq(1, 2, 5, 8))
    assert(Seq(3L, 4L).map(v => few.midCdf(few.place(v))) == Seq(3d / 8, 3d / 8))
    assert(Seq(6L, 7L).map(v => few.midCdf(few.place(v))) == Seq(6d / 8, 6d / 8))
    forAll(Gen.choose(50, 900), Gen.choose(3, 40), Gen.choose(1, 9), Gen.choose(0, 50)) { (rows, most, files, nulls) =>
      val d = ValueDistribution.ofLongs(Array.tabulate(rows)(_.toLong), nulls)
      val thin = d.thinned(most, files)
      (0L until rows.toLong).filter(thin.place(_) % 2 == 1).groupBy(thin.place(_)).foreach { case (place, values) =>
        // The boundary of a group of whole numbers is the first of them.
        val first = thin.values(place / 2 - 1)
        val middle = nulls + (first + values.max + 1) / 2d
        assert(math.abs(thin.midCdf(place) * d.total - middle) <= 0.5 + 1e-6, s"$values of $rows rows")
      }
    }
  }

  test("a boundary is at the end of each file, if there is room for that many") {
    forAll(Gen.choose(2, 30), Gen.choose(1, 5), Gen.choose(0, 50), Gen.choose(200, 900), Gen.long) {
      (files, each, nulls, rows, seed) =>
        val random = new Random(seed)
        val values = Array.fill(rows)(random.nextLong())
        val d = ValueDistribution.ofLongs(values, nulls)
        val few = d.thinned(files * each + 4, files)
        // No value is there twice, so row i in order has value i - nulls.
        for (file <- 1 until files) {
          val first = math.floor(file.toDouble * d.total / files + 0.5).toInt - nulls
          if (first > 0) assert(few.place(d.values(first - 1)) < few.place(d.values(first)), s"file $file of $files")
        }
    }
  }

  test("with few boundaries, equal files have no more values in common than with all boundaries", InRest) {
    forAll(Gen.choose(2, 20), Gen.choose(3, 6), Gen.choose(50, 400), Gen.choose(400, 1500), Gen.long) {
      (files, each, values, rows, seed) =>
        val random = new Random(seed)
        val sample = Array.fill(rows)(random.nextInt(values).toLong)
        val d = ValueDistribution.ofLongs(sample, 0)
        def overlaps(by: LongDistribution): Int = {
          val keys = sample.map(v => (by.id(by.place(v), 40), random.nextLong())).sorted.toIndexedSeq
          val cuts = Cuts.equal(keys, files)
          val found = sample.indices.map(i => (cuts.slot(by.id(by.place(sample(i)), 40), random.nextLong()), sample(i)))
          found.groupMap(_._2)(_._1).values.map(_.toSet.size - 1).sum
        }
        assert(overlaps(d.thinned(files * each + 6, files)) <= math.max(overlaps(d), files - 1))
    }
  }

  test("a boundary is a value between two others, and as short as possible") {
    import ValueDistribution.between
    assert(between(1000L, 1030L) == 1024 && between(-5L, 3L) == 0 && between(6L, 7L) == 7 && between(-9L, -2L) == -8)
    assert(between(Long.MinValue, Long.MaxValue) == 0)
    def text(low: String, high: String) = new String(between(low.getBytes, high.getBytes))
    assert(text("apple", "banana") == "b" && text("car", "card") == "card" && text("car", "carton") == "cart")
    assert(text("", "x") == "x" && text("https://a", "https://b/c") == "https://b")
    forAll(Gen.long, Gen.long, Gen.asciiStr, Gen.asciiStr) { (a, b, s, t) =>
      val (low, high) = (math.min(a, b), math.max(a, b))
      if (low < high) {
        val found = between(low, high)
        assert(low < found && found <= high)
        def zeros(v: Long) = java.lang.Long.numberOfTrailingZeros(v)
        assert(zeros(found) >= zeros(high) && zeros(found) >= zeros(low + 1))
      }
      val isLess = ValueDistribution.unsigned.compare(s.getBytes, t.getBytes) < 0
      val (least, most) = if (isLess) (s.getBytes, t.getBytes) else (t.getBytes, s.getBytes)
      if (!least.sameElements(most)) {
        val found = between(least, most)
        assert(ValueDistribution.unsigned.compare(least, found) < 0 && most.startsWith(found))
        assert(found.isEmpty || ValueDistribution.unsigned.compare(least, found.init) >= 0)
      }
    }
  }

  test("a value of many rows is a boundary by itself, and its id stays about the same") {
    val values = Array.tabulate(1000)(i => if (i % 2 == 0) 500L * 1000 else i * 1000L)
    for (files <- 1 to 9) {
      val (d, few) = (ValueDistribution.ofLongs(values, 0), ValueDistribution.ofLongs(values, 0).thinned(30, files))
      assert(few.values.contains(500000L))
      val heavy = few.midCdf(few.place(500000L))
      assert(math.abs(heavy - d.midCdf(d.place(500000L))) <= 0.03)
      assert(few.midCdf(few.place(499000L)) < heavy && heavy < few.midCdf(few.place(501000L)))
    }
  }

  test("the example of midCdf, an empty sample, and one of nulls") {
    val d = ValueDistribution.ofLongs(Array(9L, 7L, 8L, 7L), 4)
    assert(d.midCdf(0) == 0.25)
    assert(Seq(6L, 7L, 8L, 10L).map(v => d.midCdf(d.place(v))) == Seq(0.5, 0.625, 0.8125, 1.0))
    assert(d.id(d.place(10), 20) == (1 << 20) - 1)
    val none = ValueDistribution.ofLongs(Array.emptyLongArray, 0)
    assert(none.id(0, 20) == 0 && none.id(none.place(5), 20) == 0)
    val nulls = ValueDistribution.ofLongs(Array.emptyLongArray, 10)
    assert(nulls.id(0, 20) == 1 << 19 && nulls.id(nulls.place(5), 20) == (1 << 20) - 1)
  }

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
