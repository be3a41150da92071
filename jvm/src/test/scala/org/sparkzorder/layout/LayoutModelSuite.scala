package org.sparkzorder.layout

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream, IOException}

import scala.util.Random

import org.scalacheck.Gen

import org.sparkzorder.PropertySuite
import org.sparkzorder.stats.{ColumnStats, OrderedValue}

/** Where a layout puts rows, how many files a lookup reads then, and the bytes of its boundaries. */
class LayoutModelSuite extends PropertySuite(30) {
  import FileBounds._

  private def numbers(a: Double, b: Double) = Longs(OrderedValue.ofDouble(a), OrderedValue.ofDouble(b))
  private def near(depth: ClusteringDepth, mean: Double): Boolean = math.abs(depth.mean - mean) < 1e-6
  private val range = Gen.zip(Gen.choose(0L, 30L), Gen.choose(0L, 10L)).map { case (a, n) => Longs(a, a + n) }
  private val file = Gen.frequency(8 -> range, 1 -> Gen.const(Unknown), 1 -> Gen.const(AllNull))

  test("the depth is the same as counting value by value") {
    forAll(Gen.listOf(Gen.zip(file, Gen.choose(1L, 9L)))) { files =>
      val depth = ClusteringDepth.of(files)
      val values = files.collect { case (Longs(a, b), _) => a to b }.flatten.distinct
      def held(v: Long) = files.count { case (Longs(a, b), _) => a <= v && v <= b; case (f, _) => f == Unknown }
      if (values.nonEmpty) {
        val drawn = files.collect { case (Longs(a, b), n) => (a to b).map(_ -> n.toDouble / (b - a + 1)) }.flatten
        val mean = drawn.map { case (v, n) => held(v) * n }.sum / drawn.map(_._2).sum
        assert(math.abs(depth.mean - mean) < 1e-6)
        assert(depth.max == values.map(held).max)
        depth.histogram.zipWithIndex.foreach { case (n, d) =>
          assert(math.abs(n - drawn.collect { case (v, rows) if held(v) == d => rows }.sum) < 0.501)
        }
      } else {
        assert(depth.mean == files.count(_._1 == Unknown))
        assert(depth.histogram.sum == files.collect { case (Unknown, n) => n }.sum)
      }
    }
  }

  test("byte strings count as fractions, whatever they begin with") {
    def text(v: Long): Array[Byte] = "https://example.com/".getBytes :+ (4 * v).toByte
    forAll(Gen.listOf(Gen.zip(file, Gen.choose(1L, 9L)))) { files =>
      val strings = ClusteringDepth.of(files.map {
        case (Longs(a, b), n) => Bytes(text(a), text(b)) -> n
        case other            => other
      })
      // Doubles are not whole numbers either, so they must give the same.
      val doubles = files.map {
        case (Longs(a, b), n) => numbers(a.toDouble, b.toDouble) -> n
        case other            => other
      }
      val depth = ClusteringDepth.of(doubles, floating = true)
      assert(near(strings, depth.mean))
      assert(strings.max == depth.max)
    }
  }

  test("extreme values: the largest longs, infinity, a single value, and empty strings") {
    val wide = Seq(Longs(Long.MinValue, 0) -> 5L, Longs(0, Long.MaxValue) -> 5L)
    assert(near(ClusteringDepth.of(wide), 1d) && ClusteringDepth.of(wide).max == 2)
    val infinite = Seq(numbers(Double.NegativeInfinity, 0d) -> 5L, numbers(0d, Double.PositiveInfinity) -> 5L)
    assert(near(ClusteringDepth.of(infinite, floating = true), 1d))
    for (one <- Seq(Longs(7, 7), Bytes(Array.empty, Array.empty)))
      assert(ClusteringDepth.of(Seq.fill(3)(one -> 5L)) == ClusteringDepth(3d, 3, IndexedSeq(0, 0, 0, 15)))
    for (none <- Seq(Nil, Seq(AllNull -> 0L)))
      assert(ClusteringDepth.of(none) == ClusteringDepth(0d, 0, IndexedSeq.empty))
  }

  test("a lookup of a number reads no file for its NaN, and one of NaN all files that may have it") {
    val mixed = Seq(Some(numbers(0, 1)) -> 0.2, Some(numbers(2, 3)) -> 0d, None -> 1d)
    val files = mixed.map { case (known, share) => LongsOrNaN(known, share) -> 10L } :+ (numbers(4, 5) -> 10L)
    val depth = ClusteringDepth.of(files, floating = true)
    assert(depth.histogram == IndexedSeq(0, 28, 0, 12) && depth.max == 3)
    assert(math.abs(depth.mean - (28 + 3 * 12) / 40d) < 1e-9)
    val values = Seq(7 -> 0.5, 7 -> 2.5, 14 -> 4.5, 12 -> Double.NaN).flatMap { case (n, v) => Seq.fill(n)(v) }
    val sample = ValueDistribution.ofLongs(values.map(OrderedValue.ofDouble).toArray, nulls = 3)
    assert(math.abs(FilesTouched.mean(sample, files.map(_._1)) - depth.mean) < 1e-9)
  }

  test("the bound is one file for one column, and F^(1 - 1/D), and more where a value has many rows") {
    val bounds = Seq((1000L, 1, Nil, 1d), (1000L, 3, Nil, 100d), (0L, 3, Nil, 0d), (16L, 2, Seq(1d), 16d)) ++
      Seq((16L, 1, Seq(1d), 16d), (16L, 2, Seq(0.5, 0.5), 8d), (16L, 2, Seq(0.5), 6d), (16L, 2, Seq.fill(4)(0.25), 4d))
    bounds.foreach { case (files, columns, shares, bound) =>
      assert(math.abs(ClusteringDepth.bound(files, columns, shares) - bound) < 1e-9, (files, columns, shares))
    }
  }

  test("the values with the most rows, by files that hold one value alone, and by a sample") {
    val (a, b) = ("a".getBytes, "b".getBytes)
    val files = Seq(Bytes(a, a) -> 30L, Bytes(a.clone(), a) -> 30L, Bytes(a, b) -> 40L)
    assert(ClusteringDepth.shares(files) == Seq(0.6))
    assert(ValueDistribution.ofLongs(Array(7L, 7L, 7L, 9L), nulls = 4).shares == Seq(0.75, 0.25))
  }

  /** The layout of rows of longs or nulls. The sample is all of the rows. */
  private def layout(rows: IndexedSeq[Seq[Any]], files: Int, weights: Seq[Double]): UnitLayout = {
    val distributions = weights.indices.map { c =>
      val column = rows.map(_(c))
      ValueDistribution.ofLongs(column.collect { case v: Long => v }.toArray, column.count(_ == null))
    }
    val plan = BitPlan.forKeys(weights)
    val uncut = new UnitLayout(distributions, plan, Cuts.none)
    val keys = rows.indices.map(i => (uncut.z(rows(i)), i.toLong)).sorted
    new UnitLayout(distributions, plan, Cuts.equal(keys, files))
  }

  private def bounds(rows: IndexedSeq[Seq[Any]], unit: UnitLayout, c: Int): Seq[FileBounds] =
    rows.indices.groupBy(i => unit.cuts.slot(unit.z(rows(i)), i.toLong)).values.toSeq.map { file =>
      val values = file.map(rows(_)(c)).collect { case v: Long => v }
      if (values.isEmpty) AllNull else Longs(values.min, values.max)
    }

  test("the eight rows of the source document are in the order of the document") {
    val expected = Seq((0, 0), (1, 0), (3, 0), (2, 1), (1, 2), (0, 3), (2, 3), (3, 3))
    val rows = Random.shuffle(expected).map { case (x, y) => Seq[Any](y.toLong, x.toLong) }.toIndexedSeq
    val unit = layout(rows, 4, Seq(1d, 1d))
    val sorted = rows.sortBy(unit.z)
    assert(sorted == expected.map { case (x, y) => Seq(y.toLong, x.toLong) })
    // With two rows in each of four files, the document's y = 2 is in one file.
    assert(bounds(rows, unit, 0).count { case Longs(a, b) => a <= 2 && 2 <= b; case _ => false } == 1)
  }

  test("three uniform columns at 100 files touch at most 1.6 times the bound, and a heavier one fewer than another") {
    val random = new Random(7)
    val points = IndexedSeq.fill(20000)(Seq.fill[Any](3)(random.nextInt(1000000).toLong))
    def means(files: Int, weights: Double*): Seq[Double] = {
      val rows = points.map(_.take(weights.length))
      val unit = layout(rows, files, weights)
      weights.indices.map(c => FilesTouched.mean(unit.distributions(c), bounds(rows, unit, c)))
    }
    val (equal, heavy) = (means(100, 1d, 1d, 1d), means(64, 16d, 1d))
    assert(equal.sum / 3 <= 1.6 * math.pow(100, 2d / 3) && equal.forall(_ >= 1), equal)
    assert(heavy.head * 6 < heavy.last, heavy)
  }

  test("files of one column are ranges that have at most one value in common") {
    val random = new Random(10)
    val rows = IndexedSeq.fill(5000)(Seq[Any](random.nextInt(300).toLong))
    val ranges = bounds(rows, layout(rows, 40, Seq(1d)), 0).collect { case Longs(a, b) => (a, b) }.sorted
    assert(ranges.zip(ranges.drop(1)).forall { case ((_, max), (min, _)) => max <= min })
  }

  test("slots number the files of all units") {
    def unit(files: Int) = layout(IndexedSeq.tabulate(100)(i => Seq(i.toLong)), files, Seq(1d))
    val model = new LayoutModel(Array(unit(1), unit(3), unit(2)), Array(0, 1, 1, 2))
    assert(model.slots == 6)
    assert((0 until 6).map(model.unitOfSlot) == Seq(0, 1, 1, 1, 2, 2))
    assert(model.slot(0, 0L, 0L) == 0 && model.slot(2, Long.MaxValue, 0L) == 3 && model.slot(3, 0L, 0L) == 4)
    assertThrows[IllegalArgumentException](model.unitOfSlot(6))
  }

  test("files touched: known, unknown and null bounds, and those of statistics") {
    val sample = ValueDistribution.ofLongs(Array(1L, 2L, 2L, 5L), 4)
    val ranges = Seq(Longs(1, 2), Longs(3, 4), Longs(2, 9))
    val files = ranges ++ Seq(Unknown, AllNull)
    assert(FilesTouched.mean(sample, files) == 0.75 + 0 + 0.75 + 1 + 0)
    assert(FilesTouched.mean(ValueDistribution.ofLongs(Array.emptyLongArray, 3), files) == 0d)
    val other = ValueDistribution.ofLongs(Array(4L), 0)
    assert(FilesTouched.mean(Seq(sample -> 200L, other -> 300L), files) == 0.25 * 2.5 + 0.75 * 3)
    val text = ValueDistribution.ofBytes(Array("b", "d").map(_.getBytes), 0)
    assert(FilesTouched.mean(text, Seq(Bytes("a".getBytes, "c".getBytes))) == 0.5)
    val known = ColumnStats(Long.box(1), Long.box(2), 0, 0)
    val some = Longs(1, 2)
    Seq(
      known -> some,
      ColumnStats(null, null, 5, 0) -> AllNull,
      ColumnStats.unknown -> Unknown,
      known.copy(nanCount = 1) -> LongsOrNaN(Some(some), 0.2),
      known.copy(nanCount = -1) -> LongsOrNaN(Some(some), 0d),
      ColumnStats(null, null, 2, 3) -> LongsOrNaN(None, 1d),
      ColumnStats(null, null, 2, 2) -> Unknown
    ).foreach { case (stats, bounds) => assert(FileBounds.of(stats, 5) == bounds, stats) }
  }

  private val join = JoinSpec(Seq("spark_catalog", "db", "a.b"), Seq("s", "key"), Seq("id"))

  test("a layout with dimensions is the same after JSON, and one without has no word of them") {
    val plain = LayoutSpec("zorder", "range", "aligned", Seq(Seq("day") -> 1d))
    val joined = plain.copy(columns = Seq(join.attribute(Seq("city")) -> 2d, Seq("day") -> 1d), joins = Seq(join))
    assert(LayoutSpec.parse(joined.json).contains(joined))
    assert(joined.json != joined.copy(joins = Seq(join.copy(column = Seq("other")))).json)
    assert(!plain.json.contains("joins") && LayoutSpec.parse(plain.json).contains(plain))
    assert(LayoutSpec.parse(joined.json.replace("dimension", "table")).isEmpty)
  }

  test("the path of an attribute is no column's, and people see it without its mark") {
    assert(JoinSpec.isAttribute(join.attribute(Seq("city"))))
    assert(JoinSpec.shown(join.attribute(Seq("city", "name"))) == Seq("a.b", "city", "name"))
    for (column <- Seq(Seq("day"), Seq("a.b", "city"), Seq("", "a.b", "city"), Seq("\u0000"))) {
      assert(!JoinSpec.isAttribute(column))
      assert(JoinSpec.shown(column) == column)
    }
  }

  private def distribution(random: Random): ValueDistribution = {
    val n = random.nextInt(30)
    val nulls = random.nextInt(3)
    def value = if (random.nextBoolean()) random.nextLong() else random.nextInt(5).toLong
    if (random.nextBoolean()) ValueDistribution.ofLongs(Array.fill(n)(value), nulls)
    else ValueDistribution.ofBytes(Array.fill(n)(random.nextBytes(random.nextInt(5))), nulls)
  }

  private def frame(random: Random): (IndexedSeq[ValueDistribution], Curve) = {
    val columns = 1 + random.nextInt(4)
    val plan = BitPlan(Seq.fill(columns)(1d + random.nextInt(3)), 1 + random.nextInt(15), random.nextInt(62))
    val curve = if (random.nextBoolean()) HilbertCurve.of(plan, random.nextInt(12)) else plan
    (IndexedSeq.fill(columns)(distribution(random)), curve)
  }

  private def written(frame: (IndexedSeq[ValueDistribution], Curve)): Array[Byte] = {
    val buffer = new ByteArrayOutputStream
    FrameBytes.write(new DataOutputStream(buffer), frame._1, frame._2)
    buffer.toByteArray
  }

  private def read(bytes: Array[Byte]) =
    FrameBytes.read(new DataInputStream(new ByteArrayInputStream(bytes)), bytes.length)

  test("a frame that was written and read has the same ids and the same curve") {
    val random = new Random(1)
    for (_ <- 1 to 500) {
      val made = frame(random)
      val (distributions, curve) = read(written(made))
      assert(curve.columns == made._2.columns && curve.totalBits == made._2.totalBits)
      distributions.zip(made._1).foreach {
        case (a: LongDistribution, b: LongDistribution)   => assert(a.values.toSeq == b.values.toSeq)
        case (a: BytesDistribution, b: BytesDistribution) =>
          assert(a.values.map(_.toSeq).toSeq == b.values.map(_.toSeq).toSeq)
        case (a, b) => fail(s"$b became $a")
      }
      for (c <- distributions.indices; place <- 0 until distributions(c).places) {
        val id = distributions(c).id(place, curve.bits(c))
        assert(id == made._1(c).id(place, curve.bits(c)))
        assert(curve.value(curve.spread(c, id)) == made._2.value(made._2.spread(c, id)))
      }
    }
  }

  test("of strings that begin alike only the differing ends are stored, but not too few bytes") {
    val paths = Array.tabulate(1000)(i => f"https://example.com/one/and/the/same/folder/$i%04d".getBytes)
    val d = ValueDistribution.ofBytes(paths, 0)
    val plan = BitPlan(Seq(1d), 20, 20)
    val bytes = written((IndexedSeq(d), plan))
    assert(bytes.length < 7 * paths.length && bytes.length > 48 * paths.length / 16)
    val back = read(bytes)._1.head.asInstanceOf[BytesDistribution].values
    assert(back.map(new String(_)).toSeq == paths.map(new String(_)).toSeq)
    // These bytes try to fill the memory: each value is the one before with one more byte.
    val out = new ByteArrayOutputStream
    val data = new DataOutputStream(out)
    FrameBytes.write(data, IndexedSeq.empty, BitPlan.ofSequence(Nil, 1))
    val values = 1000
    Seq(1, 0, values & 0x7f | 0x80, values >> 7).foreach(data.writeByte(_))
    (1 to values).foreach(_ => data.writeByte(1))
    (0 until values).foreach { i =>
      if (i < 128) data.writeByte(i) else { data.writeByte(i & 0x7f | 0x80); data.writeByte(i >> 7) }
      data.writeByte(1)
      data.writeByte('a')
    }
    assert(intercept[IOException](read(out.toByteArray)).getMessage.contains("share too much"))
  }

  test("the size of boundaries is known before they are written, and fitted ones keep to their bytes") {
    val random = new Random(3)
    var thinned = 0
    for (_ <- 1 to 500) {
      val (distributions, curve) = frame(random)
      val sizes = distributions.map(FrameBytes.size)
      assert(written((distributions, curve)).length - written((Nil.toIndexedSeq, curve)).length == sizes.sum)
      val room = random.nextInt(400).toLong
      val fitted = FrameBudget.fit(distributions, room, 1 + random.nextInt(9))
      assert(fitted.map(FrameBytes.size).sum <= math.max(room, 16L * 20 * distributions.size))
      if (sizes.sum <= room) assert(fitted == distributions)
      else if (fitted != distributions) thinned += 1
    }
    assert(thinned > 50)
    // Columns that need few bytes leave the rest to the others.
    val few = ValueDistribution.ofLongs(Array.tabulate(100)(_.toLong), 0)
    val many = ValueDistribution.ofLongs(Array.fill(50000)(random.nextLong()), 0)
    val fitted = FrameBudget.fit(IndexedSeq(many, few, many), 100000, 100)
    assert(fitted(1) eq few)
    Seq(0, 2).foreach { c =>
      val size = FrameBytes.size(fitted(c))
      assert(size <= 50000 && size > 40000, size)
    }
    assert(FrameBudget.of(4) == 384 && FrameBudget.of(1000) == 96000 && FrameBudget.of(10000000) == 8 << 20)
  }

  test("damaged bytes give an error or another frame that can be used") {
    val random = new Random(2)
    var refused = 0
    for (_ <- 1 to 3000) {
      val bytes = written(frame(random))
      val damaged =
        if (random.nextBoolean()) bytes.take(random.nextInt(bytes.length))
        else bytes.updated(random.nextInt(bytes.length), random.nextInt().toByte)
      try {
        val (distributions, curve) = read(damaged)
        // A frame that was accepted can be used.
        for (c <- distributions.indices; place <- 0 until distributions(c).places)
          curve.spread(c, distributions(c).id(place, curve.bits(c)))
      } catch { case _: IOException => refused += 1 }
    }
    assert(refused > 1000)
  }
}
