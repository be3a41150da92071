package org.sparkzorder.layout

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.stats.ColumnStats

class LayoutModelSuite extends AnyFunSuite {

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
      if (values.isEmpty) FileBounds.AllNull else FileBounds.Longs(values.min, values.max)
    }

  test("the eight rows of the source document are in the order of the document") {
    val expected = Seq((0, 0), (1, 0), (3, 0), (2, 1), (1, 2), (0, 3), (2, 3), (3, 3))
    val rows = Random.shuffle(expected).map { case (x, y) => Seq[Any](y.toLong, x.toLong) }.toIndexedSeq
    val unit = layout(rows, 4, Seq(1d, 1d))
    val sorted = rows.sortBy(unit.z)
    assert(sorted == expected.map { case (x, y) => Seq(y.toLong, x.toLong) })
    // With two rows in each of four files, the document's y = 2 is in one file.
    assert(bounds(rows, unit, 0).count { case FileBounds.Longs(a, b) => a <= 2 && 2 <= b; case _ => false } == 1)
  }

  test("three uniform columns at 100 files touch at most 1.6 times the bound") {
    val random = new Random(7)
    val rows = IndexedSeq.fill(20000)(Seq.fill[Any](3)(random.nextInt(1000000).toLong))
    val unit = layout(rows, 100, Seq(1d, 1d, 1d))
    assert(unit.cuts.slots == 100)
    val bound = math.pow(100, 2d / 3)
    val means = (0 to 2).map(c => FilesTouched.mean(unit.distributions(c), bounds(rows, unit, c)))
    assert(means.sum / 3 <= 1.6 * bound, means)
    assert(means.forall(_ >= 1))
  }

  test("a heavier column touches fewer files") {
    val random = new Random(8)
    val rows = IndexedSeq.fill(10000)(Seq.fill[Any](2)(random.nextInt(100000).toLong))
    val unit = layout(rows, 64, Seq(16d, 1d))
    def mean(c: Int) = FilesTouched.mean(unit.distributions(c), bounds(rows, unit, c))
    val (heavy, light) = (mean(0), mean(1))
    assert(heavy * 6 < light, (heavy, light))
  }

  test("rows are spread evenly: a single boolean, a value that fills many files, mostly nulls, all rows equal") {
    val random = new Random(9)
    val cases = Seq[IndexedSeq[Seq[Any]]](
      IndexedSeq.fill(5000)(Seq(if (random.nextBoolean()) 1L else 0L)),
      IndexedSeq.fill(5000)(Seq(if (random.nextInt(10) < 9) 42L else random.nextLong())),
      IndexedSeq.fill(5000)(Seq(if (random.nextInt(10) < 8) null else random.nextLong())),
      IndexedSeq.fill(5000)(Seq(5L))
    )
    cases.foreach { rows =>
      val unit = layout(rows, 50, Seq(1d))
      val sizes = rows.indices.groupBy(i => unit.cuts.slot(unit.z(rows(i)), i.toLong)).values.map(_.size)
      assert(sizes.size == 50 && sizes.forall(_ == 100), sizes)
    }
  }

  test("files of one column are ranges that have at most one value in common") {
    val random = new Random(10)
    val rows = IndexedSeq.fill(5000)(Seq[Any](random.nextInt(300).toLong))
    val ranges = bounds(rows, layout(rows, 40, Seq(1d)), 0).collect { case FileBounds.Longs(a, b) => (a, b) }.sorted
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

  test("a layout that was serialized places rows as before") {
    val rows = IndexedSeq.tabulate(100)(i => Seq[Any](i.toLong, (i * 37 % 100).toLong))
    val unit = layout(rows, 7, Seq(1d, 2d))
    val bytes = new java.io.ByteArrayOutputStream
    val out = new java.io.ObjectOutputStream(bytes)
    out.writeObject(new LayoutModel(Array(unit), Array(0)))
    out.close()
    val in = new java.io.ObjectInputStream(new java.io.ByteArrayInputStream(bytes.toByteArray))
    val copy = in.readObject().asInstanceOf[LayoutModel].ofFile(0)
    assert(rows.map(copy.z) == rows.map(unit.z) && copy.cuts.keys == unit.cuts.keys)
  }

  test("files touched: known, unknown and null bounds, and those of statistics") {
    val sample = ValueDistribution.ofLongs(Array(1L, 2L, 2L, 5L), 4)
    val ranges = Seq(FileBounds.Longs(1, 2), FileBounds.Longs(3, 4), FileBounds.Longs(2, 9))
    val files = ranges ++ Seq(FileBounds.Unknown, FileBounds.AllNull)
    assert(FilesTouched.mean(sample, files) == 0.75 + 0 + 0.75 + 1 + 0)
    assert(FilesTouched.mean(ValueDistribution.ofLongs(Array.emptyLongArray, 3), files) == 0d)
    val other = ValueDistribution.ofLongs(Array(4L), 0)
    assert(FilesTouched.mean(Seq(sample -> 200L, other -> 300L), files) == 0.25 * 2.5 + 0.75 * 3)
    val text = ValueDistribution.ofBytes(Array("b", "d").map(_.getBytes), 0)
    assert(FilesTouched.mean(text, Seq(FileBounds.Bytes("a".getBytes, "c".getBytes))) == 0.5)
    val known = ColumnStats(Long.box(1), Long.box(2), 0, 0)
    val some = FileBounds.Longs(1, 2)
    Seq(
      known -> some,
      ColumnStats(null, null, 5, 0) -> FileBounds.AllNull,
      ColumnStats.unknown -> FileBounds.Unknown,
      known.copy(nanCount = 1) -> FileBounds.LongsOrNaN(Some(some), 0.2),
      known.copy(nanCount = -1) -> FileBounds.LongsOrNaN(Some(some), 0d),
      ColumnStats(null, null, 2, 3) -> FileBounds.LongsOrNaN(None, 1d),
      ColumnStats(null, null, 2, 2) -> FileBounds.Unknown
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
}
