package org.sparkzorder.layout

import java.util.SplittableRandom

import scala.util.Random

import org.scalacheck.Gen

import org.sparkzorder.{InRest, PropertySuite}

/** The ways to cut a curve into files, the number of files of a unit, and how many rows or wide ones a file has. */
class CutsSuite extends PropertySuite(200) {
  private type Keys = IndexedSeq[(Long, Long)]
  private val bits = 20

  /** Keys of evenly spread points, ascending. */
  private def uniform(rows: Int, bits: Int, seed: Long): Keys = {
    val random = new SplittableRandom(seed)
    IndexedSeq.fill(rows)((random.nextLong(1L << bits), random.nextLong())).sorted
  }

  private def sizes(keys: Keys, cuts: Cuts): Seq[Int] = {
    val slots = keys.map { case (z, t) => cuts.slot(z, t) }.groupBy(identity)
    (0 until cuts.slots).map(slots.get(_).fold(0)(_.size))
  }

  private val key = Gen.zip(Gen.choose(0L, 40L), Gen.choose(0L, 9L))
  private val sample = for {
    most <- Gen.oneOf(6L, 40L)
    rows <- Gen.choose(0, 400)
    keys <- Gen.listOfN(rows, Gen.zip(Gen.choose(0L, most), Gen.choose(0L, 9L)))
  } yield keys.sorted.toIndexedSeq

  test("equal and aligned: cuts are a partition, no file is empty, and slots begin at the cuts and follow the keys") {
    forAll(sample, Gen.choose(1, 80), key, key, minSuccessful(2000)) { (keys, n, a, b) =>
      assert(Cuts.equal(keys, n).slots == math.max(1, math.min(n, keys.distinct.length)))
      for (cuts <- Seq(Cuts.equal(keys, n), AlignedCuts.of(keys, n))) {
        assert(cuts.keys == cuts.keys.distinct.sorted)
        if (keys.nonEmpty) assert(keys.map { case (z, t) => cuts.slot(z, t) }.toSet == (0 until cuts.slots).toSet)
        val (low, high) = if (Ordering[(Long, Long)].lteq(a, b)) (a, b) else (b, a)
        assert(cuts.slot(low._1, low._2) <= cuts.slot(high._1, high._2))
        assert(cuts.slot(a._1, a._2) == cuts.keys.count(Ordering[(Long, Long)].lteq(_, a)))
      }
    }
  }

  test("equal: files of distinct keys are equal to within one row", InRest) {
    forAll(Gen.choose(1, 500), Gen.choose(1, 60), Gen.choose(1L, 500L), minSuccessful(2000)) { (rows, n, zs) =>
      // With few values of z, one value fills many files.
      val keys = (0 until rows).map(i => (i * zs / rows, i.toLong))
      val sizes = keys.groupBy { case (z, t) => Cuts.equal(keys, n).slot(z, t) }.values.map(_.size)
      assert(sizes.size == math.min(n, rows))
      assert(sizes.max - sizes.min <= 1)
    }
  }

  test("equal and aligned: all rows equal except their ties, all rows equal, and no rows") {
    val equal = (0 until 1000).map(i => (7L, i.toLong))
    for (of <- Seq[(Keys, Int) => Cuts](Cuts.equal(_, _), AlignedCuts.of(_, _))) {
      assert(sizes(equal, of(equal, 10)) == Seq.fill(10)(100))
      for (keys <- Seq(IndexedSeq.fill(1000)((7L, 7L)), IndexedSeq.empty)) assert(of(keys, 10).slots == 1)
      assertThrows[IllegalArgumentException](of(equal, 0))
    }
  }

  test("equal: cuts at given keys must increase") {
    assert(Cuts.at(Seq((1L, 5L), (2L, 0L))).slots == 3)
    assertThrows[IllegalArgumentException](Cuts.at(Seq((1L, 5L), (1L, 5L))))
  }

  test("aligned: the number of files is within a quarter of the number asked for, whatever that is") {
    forAll(Gen.choose(2, 150), Gen.choose(0L, 1000L)) { (n, seed) =>
      val cuts = AlignedCuts.of(uniform(100 * n, bits, seed), n)
      assert(math.abs(cuts.slots - n) <= 0.25 * n)
    }
  }

  test("aligned: at a power of two, each file is one cell") {
    for (n <- Seq(2, 4, 64, 256); seed <- 1L to 5L) {
      val cuts = AlignedCuts.of(uniform(200 * n, bits, seed), n)
      assert(cuts.keys == (1 until n).map(i => (i.toLong * ((1L << bits) / n), Long.MinValue)))
    }
  }

  test("aligned: files have half to one and a half times the target, in all rows and not only in the sample") {
    for (n <- Seq(10, 24, 50, 100, 119, 190, 200, 400, 1000)) {
      val found = for (seed <- 1L to math.max(5L, 2000L / n)) yield {
        val borders = 0L +: AlignedCuts.of(uniform(100 * n, bits, seed), n).keys.map(_._1) :+ (1L << bits)
        borders.zip(borders.tail).map { case (a, b) => (b - a).toDouble * n / (1L << bits) }
      }
      val off = found.flatten.count(size => size < 0.5 || size > 1.5)
      assert(off <= 0.02 * found.flatten.size, s"$off of ${found.flatten.size} for $n")
    }
  }

  test("aligned: a value that fills many files is cut into equal files, and other files end at borders") {
    val heavy = (0 until 3000).map(i => (5000L, i.toLong))
    val keys = (uniform(1000, bits, 3) ++ heavy).sorted
    val cuts = AlignedCuts.of(keys, 40)
    val inside = cuts.keys.filter(_._1 == 5000L)
    assert(math.abs(inside.count(_._2 != Long.MinValue) - 29) <= 1)
    assert(sizes(keys, cuts).forall(s => s >= 50 && s <= 150))
    assert(cuts.keys.filter(_._1 > 5000L).forall(_._2 == Long.MinValue))
  }

  test("aligned: in a sort files are equal, and a value that fits one file is in one") {
    val sorted = LayoutShape(LayoutSpec.Order, aligned = true)
    val plan = BitPlan.forKeys(Seq(1d))
    for (n <- Seq(3, 10, 100, 1000)) {
      val many = uniform(100 * n, bits, n.toLong)
      assert(math.abs(sorted.cutsOf(many, n, plan).slots - n) <= 0)
      assert(sizes(many, sorted.cutsOf(many, n, plan)).forall(s => s >= 95 && s <= 105))
      val few = uniform(100 * n, bits, 5).map { case (z, tie) => (z >> 10 << 10, tie) }
      val cuts = sorted.cutsOf(few, n, plan)
      assert(cuts.keys.forall(_._2 == Long.MinValue) || n > 500)
      assert(math.abs(cuts.slots - n) <= 0.25 * n)
    }
  }

  test("aligned: in a sort by two columns, files end where the first column changes, whatever its bits are") {
    val plan = BitPlan.ofSequence(Seq.fill(8)(0) ++ Seq.fill(8)(1), 2)
    val shape = LayoutShape(LayoutSpec.Order, aligned = true)
    val keys = uniform(20000, bits, 9).map { case (z, tie) => (z >> 4, tie) }
    val cuts = shape.cutsOf(keys, 50, plan)
    assert(cuts.keys.forall { case (z, _) => z % 256 == 0 })
    assert(sizes(keys, cuts).forall(s => s >= 320 && s <= 480))
  }

  test("exact: there are exactly as many parts as asked for, with a quarter to three times their share") {
    forAll(Gen.choose(1, 150), Gen.choose(0L, 1000L)) { (n, seed) =>
      val keys = uniform(100 * n, 20, seed)
      val found = sizes(keys, ExactCuts.of(keys, n))
      assert(found.length == n && found.sum == keys.length)
      assert(found.forall(s => s >= 25 && s <= 300), s"$n: $found")
    }
  }

  test("exact: a few values with many rows make as many parts as asked for, or as there are different keys") {
    forAll(Gen.choose(1, 40), Gen.choose(0, 6), Gen.choose(0L, 1000L)) { (n, bits, seed) =>
      val keys = uniform(100 * n, bits, seed)
      assert(ExactCuts.of(keys, n).slots == n)
      val untied = keys.map { case (z, _) => (z, 0L) }
      val cuts = ExactCuts.of(untied, n)
      assert(cuts.slots <= math.min(n, untied.distinct.length))
      assert(cuts.keys.forall { case (z, tie) => tie <= 0 && z > 0 })
    }
  }

  test("exact: if there are as many cells as parts asked for, the cells are the parts; without rows there is one") {
    val keys = uniform(12800, 20, 1)
    assert(ExactCuts.of(IndexedSeq.empty, 10).slots == 1)
    assert(ExactCuts.of(keys, 64).keys == (1 until 64).map(i => (i.toLong << 14, Long.MinValue)))
  }

  test("exact: a value that fits a part is in one part, whatever the ties of its rows") {
    forAll(Gen.choose(1, 40), Gen.choose(1, 400), Gen.choose(0L, 1000L)) { (n, rows, seed) =>
      val sample = IndexedSeq.tabulate(rows)(i => (i * 10L, new SplittableRandom(seed + i).nextLong()))
      val cuts = ExactCuts.of(sample, n)
      assert(cuts.slots == math.min(n, rows))
      sample.foreach { case (z, _) => assert(cuts.slot(z, Long.MinValue) == cuts.slot(z, Long.MaxValue)) }
    }
  }

  private val size = Gen.frequency(1 -> Gen.const(0L), 4 -> Gen.choose(1L, 1L << 45))
  private val unitSizes = Gen.choose(1, 30).flatMap(Gen.listOfN(_, size))

  test("by size: the nearest number of files, at least one") {
    assert(FileCounts.bySize(Seq(0L, 49L, 149L, 150L, 1000L), 100L) == Seq(1, 1, 1, 2, 10))
    assert(FileCounts.bySize(Seq(Long.MaxValue), Long.MaxValue) == Seq(1))
    assertThrows[IllegalArgumentException](FileCounts.bySize(Seq(1L), 0L))
  }

  test("by number: all files are shared out, at least one to each unit, and more to larger units") {
    forAll(unitSizes, Gen.choose(1, 5000), minSuccessful(1000)) { (bytes, n) =>
      val counts = FileCounts.byNumber(bytes, n)
      assert(counts.sum == math.max(n, bytes.length))
      assert(counts.forall(_ >= 1))
      val ordered = bytes.zip(counts).sorted
      assert(ordered.zip(ordered.drop(1)).forall { case ((b, x), (c, y)) => b == c || x <= y })
    }
    assert(FileCounts.byNumber(Seq(70L, 20L, 9L, 1L), 10) == Seq(6, 2, 1, 1))
    assert(FileCounts.byNumber(Seq(1L, 1L, 1L), 4) == Seq(2, 1, 1))
    assert(FileCounts.byNumber(Seq(0L, 0L), 4) == Seq(2, 2))
    assert(FileCounts.byNumber(Seq(5L), 7) == Seq(7))
    assert(FileCounts.byNumber(Nil, 7) == Nil)
  }

  private def files(zs: Seq[Long], most: Long, coarseness: Long => Long = identity): Seq[Seq[Long]] = {
    val limit = new RowLimit(most, coarseness)
    zs.foldLeft(Vector.empty[Vector[Long]]) {
      case (done :+ open, z) if !limit.beginsFile(z) => done :+ (open :+ z)
      case (Vector(), z)                             => assert(!limit.beginsFile(z)); Vector(Vector(z))
      case (all, z)                                  => all :+ Vector(z)
    }
  }

  test("no file has too many rows, only the last one less than half of that, and all rows are in order") {
    forAll(Gen.choose(1, 300), Gen.choose(0, 2000), Gen.choose(0, 20), Gen.choose(0L, 1000L)) {
      (most, rows, bits, seed) =>
        val random = new SplittableRandom(seed)
        val zs = Seq.fill(rows)(random.nextLong(1L << bits)).sorted
        val found = files(zs, most.toLong)
        assert(found.flatten == zs)
        assert(found.forall(_.length <= most) && found.dropRight(1).forall(_.length * 2 >= most))
    }
  }

  test("files are whole cells, a value that fits is in one file, and equally coarse borders give full files") {
    for (most <- Seq(64, 65, 70, 100, 127))
      assert(files(0L until 4096L, most.toLong) == (0L until 4096L).grouped(64).toSeq, most)
    forAll(Gen.choose(32, 300), Gen.choose(1, 18)) { (most, size) =>
      val zs = (0L until 300L).flatMap(z => Seq.fill(math.min(size, most / 16))(z))
      val found = files(zs, most.toLong)
      assert(found.map(_.distinct.length).sum == 300)
      val heavy = files(Seq.fill(most / 2 + 1)(0L) ++ Seq.fill(5 * most)(7L) ++ Seq.fill(most / 2)(8L), most.toLong)
      assert(heavy.count(_.contains(7L)) <= 6 && heavy.exists(f => f.distinct == Seq(0L)))
    }
    val found = files((0L until 10000L), 160L, _ => 0L)
    assert(found.dropRight(1).forall(_.length == 160))
  }

  /** Sampled rows at places 0, 1, 2, .., with the widths of these places. */
  private def rows(n: Int)(width: Int => Double): IndexedSeq[((Long, Long), Double)] =
    (0 until n).map(i => ((i.toLong, 7L), width(i)))

  test("rows of equal width, and wide rows anywhere, leave cuts to count rows") {
    assert(RowWidths.of(IndexedSeq.empty).isEmpty)
    assert(RowWidths.of(rows(5)(_ => 10d)).isEmpty)
    assert(RowWidths.of(rows(2000)(_ => 17d)).isEmpty)
    // Of 500 tables, hardly any seems to have a wide place.
    val random = new Random(64)
    val seen = (1 to 500).count { _ =>
      // Often a few very wide rows.
      val (share, wide) = (math.pow(random.nextDouble(), 4), 1d + random.nextInt(1000))
      RowWidths.of(rows(2000)(_ => if (random.nextDouble() < share) wide else 1d)).isDefined
    }
    info(s"$seen of 500")
    assert(seen <= 15)
    // Differences that files of equally many rows may have.
    assert(RowWidths.of(rows(2000)(i => 0.8 + 0.4 * i / 2000)).isEmpty)
  }

  test("places of wide rows have their width, in mean widths") {
    val random = new Random(65)
    for (_ <- 1 to 200) {
      val n = 1000 + random.nextInt(3000)
      val (from, share, wide) = (random.nextDouble(), 0.1 + 0.4 * random.nextDouble(), 4d + random.nextInt(50))
      def isWide(i: Int): Boolean = i >= from * n && i < (from + share) * n
      def width(i: Int): Double = (if (isWide(i)) wide else 1d) * (0.9 + 0.2 * random.nextDouble())
      val sample = rows(n)(width)
      val found = RowWidths.of(sample)
      val mean = sample.map(_._2).sum / n
      // Not where a bin has a border of the wide place in it.
      val inside = (0 until n).filter(i => (i - 40 to i + 40).forall(j => j < 0 || j >= n || isWide(j) == isWide(i)))
      if (sample.count(_._2 > 2) > 100) {
        assert(found.isDefined)
        inside.foreach { i =>
          val (is, should) = (found.get.of(i.toLong, 7L), (if (isWide(i)) wide else 1d) / mean)
          assert(math.abs(is - should) <= 0.25 * should + 0.25, s"place $i of $n: $is for $should")
        }
        val all = (0 until n).map(i => found.get.of(i.toLong, 7L)).sum / n
        assert(math.abs(all - 1) < 0.02, "a sample by widths is as large as one by rows")
      }
    }
  }

  test("a place where a few rows are wide is found") {
    val random = new Random(66)
    // Of a twentieth of the rows, a tenth are wide.
    val found = (1 to 100).count { _ =>
      RowWidths.of(rows(20000)(i => if (i > 19000 && random.nextInt(10) == 0) 300d else 3d)).isDefined
    }
    assert(found == 100)
  }
}
