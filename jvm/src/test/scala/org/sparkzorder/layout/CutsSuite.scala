package org.sparkzorder.layout

import java.util.SplittableRandom

import org.scalacheck.Gen

import org.sparkzorder.{InRest, PropertySuite}

/** The three ways to cut a curve into files. */
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

  private val key = Gen.zip(Gen.choose(0L, 6L), Gen.choose(0L, 9L))
  private val sample = Gen.choose(0, 200).flatMap(Gen.listOfN(_, key)).map(_.sorted.toIndexedSeq)

  test("equal: as many files as asked for or as distinct keys, none empty, and slots begin at the cuts") {
    forAll(sample, Gen.choose(1, 80), key, key, minSuccessful(2000)) { (keys, n, a, b) =>
      val cuts = Cuts.equal(keys, n)
      assert(cuts.slots == math.max(1, math.min(n, keys.distinct.length)))
      assert(cuts.keys == cuts.keys.distinct.sorted)
      if (keys.nonEmpty) assert(keys.map { case (z, t) => cuts.slot(z, t) }.toSet == (0 until cuts.slots).toSet)
      val (low, high) = if (Ordering[(Long, Long)].lteq(a, b)) (a, b) else (b, a)
      assert(cuts.slot(low._1, low._2) <= cuts.slot(high._1, high._2))
      assert(cuts.slot(a._1, a._2) == cuts.keys.count(Ordering[(Long, Long)].lteq(_, a)))
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

  test("equal: all rows equal except their ties, all rows equal, and no rows") {
    val equal = (0 until 1000).map(i => (7L, i.toLong))
    assert(sizes(equal, Cuts.equal(equal, 10)) == Seq.fill(10)(100))
    assert(Cuts.equal(IndexedSeq.fill(1000)((7L, 7L)), 10).slots == 1)
    assert(Cuts.equal(IndexedSeq.empty, 10).slots == 1)
  }

  test("equal: cuts at given keys must increase") {
    assert(Cuts.at(Seq((1L, 5L), (2L, 0L))).slots == 3)
    assertThrows[IllegalArgumentException](Cuts.at(Seq((1L, 5L), (1L, 5L))))
    assertThrows[IllegalArgumentException](Cuts.equal(IndexedSeq((1L, 1L)), 0))
  }

  private val few = Gen.choose(0, 400).flatMap(Gen.listOfN(_, Gen.zip(Gen.choose(0L, 40L), Gen.choose(0L, 9L))))
    .map(_.sorted.toIndexedSeq)

  test("aligned: cuts are a partition, no file is empty, slots follow the keys") {
    forAll(few, Gen.choose(1, 60)) { (keys, n) =>
      val cuts = AlignedCuts.of(keys, n)
      assert(cuts.keys == cuts.keys.distinct.sorted)
      val slots = keys.map { case (z, t) => cuts.slot(z, t) }
      assert(slots == slots.sorted)
      if (keys.nonEmpty) assert(slots.toSet == (0 until cuts.slots).toSet)
    }
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

  test("aligned: all rows equal except their ties, all rows equal, and no rows") {
    val equal = (0 until 1000).map(i => (7L, i.toLong))
    assert(sizes(equal, AlignedCuts.of(equal, 10)) == Seq.fill(10)(100))
    assert(AlignedCuts.of(IndexedSeq.fill(1000)((7L, 7L)), 10).slots == 1)
    assert(AlignedCuts.of(IndexedSeq.empty, 10).slots == 1)
    assertThrows[IllegalArgumentException](AlignedCuts.of(equal, 0))
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
}
