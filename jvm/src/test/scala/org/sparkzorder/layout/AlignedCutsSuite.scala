package org.sparkzorder.layout

import java.util.SplittableRandom

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class AlignedCutsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  private type Keys = IndexedSeq[(Long, Long)]

  private val bits = 20

  /** Keys of evenly spread points, ascending. */
  private def uniform(rows: Int, seed: Long): Keys = {
    val random = new SplittableRandom(seed)
    IndexedSeq.fill(rows)((random.nextLong(1L << bits), random.nextLong())).sorted
  }

  private def sizes(keys: Keys, cuts: Cuts): Seq[Int] = {
    val slots = keys.map { case (z, t) => cuts.slot(z, t) }.groupBy(identity)
    (0 until cuts.slots).map(slots.get(_).fold(0)(_.size))
  }

  private val few = Gen.choose(0, 400).flatMap(Gen.listOfN(_, Gen.zip(Gen.choose(0L, 40L), Gen.choose(0L, 9L))))
    .map(_.sorted.toIndexedSeq)

  test("cuts are a partition, no file is empty, slots follow the keys") {
    forAll(few, Gen.choose(1, 60)) { (keys, n) =>
      val cuts = AlignedCuts.of(keys, n)
      assert(cuts.keys == cuts.keys.distinct.sorted)
      val slots = keys.map { case (z, t) => cuts.slot(z, t) }
      assert(slots == slots.sorted)
      if (keys.nonEmpty) assert(slots.toSet == (0 until cuts.slots).toSet)
    }
  }

  test("the number of files is within a quarter of the number asked for, whatever that is") {
    forAll(Gen.choose(2, 150), Gen.choose(0L, 1000L)) { (n, seed) =>
      val cuts = AlignedCuts.of(uniform(100 * n, seed), n)
      assert(math.abs(cuts.slots - n) <= 0.25 * n)
    }
  }

  test("at a power of two, each file is one cell") {
    for (n <- Seq(2, 4, 64, 256); seed <- 1L to 5L) {
      val cuts = AlignedCuts.of(uniform(200 * n, seed), n)
      assert(cuts.keys == (1 until n).map(i => (i.toLong * ((1L << bits) / n), Long.MinValue)))
    }
  }

  test("files have half to one and a half times the target, in all rows and not only in the sample") {
    for (n <- Seq(10, 24, 50, 100, 119, 190, 200, 400, 1000)) {
      val found = for (seed <- 1L to math.max(5L, 2000L / n)) yield {
        val borders = 0L +: AlignedCuts.of(uniform(100 * n, seed), n).keys.map(_._1) :+ (1L << bits)
        borders.zip(borders.tail).map { case (a, b) => (b - a).toDouble * n / (1L << bits) }
      }
      val off = found.flatten.count(size => size < 0.5 || size > 1.5)
      assert(off <= 0.02 * found.flatten.size, s"$off of ${found.flatten.size} for $n")
    }
  }

  test("a value that fills many files is cut into equal files, and other files end at borders") {
    val heavy = (0 until 3000).map(i => (5000L, i.toLong))
    val keys = (uniform(1000, 3) ++ heavy).sorted
    val cuts = AlignedCuts.of(keys, 40)
    val inside = cuts.keys.filter(_._1 == 5000L)
    assert(math.abs(inside.count(_._2 != Long.MinValue) - 29) <= 1)
    assert(sizes(keys, cuts).forall(s => s >= 50 && s <= 150))
    assert(cuts.keys.filter(_._1 > 5000L).forall(_._2 == Long.MinValue))
  }

  test("in a sort files are equal, and a value that fits one file is in one") {
    val sorted = LayoutShape(LayoutSpec.Order, aligned = true)
    val plan = BitPlan.forKeys(Seq(1d))
    for (n <- Seq(3, 10, 100, 1000)) {
      val many = uniform(100 * n, n.toLong)
      assert(math.abs(sorted.cutsOf(many, n, plan).slots - n) <= 0)
      assert(sizes(many, sorted.cutsOf(many, n, plan)).forall(s => s >= 95 && s <= 105))
      val few = uniform(100 * n, 5).map { case (z, tie) => (z >> 10 << 10, tie) }
      val cuts = sorted.cutsOf(few, n, plan)
      assert(cuts.keys.forall(_._2 == Long.MinValue) || n > 500)
      assert(math.abs(cuts.slots - n) <= 0.25 * n)
    }
  }

  test("in a sort by two columns, files end where the first column changes, whatever its bits are") {
    val plan = BitPlan.ofSequence(Seq.fill(8)(0) ++ Seq.fill(8)(1), 2)
    val shape = LayoutShape(LayoutSpec.Order, aligned = true)
    val keys = uniform(20000, 9).map { case (z, tie) => (z >> 4, tie) }
    val cuts = shape.cutsOf(keys, 50, plan)
    assert(cuts.keys.forall { case (z, _) => z % 256 == 0 })
    assert(sizes(keys, cuts).forall(s => s >= 320 && s <= 480))
  }

  test("all rows equal except their ties, all rows equal, and no rows") {
    val equal = (0 until 1000).map(i => (7L, i.toLong))
    assert(sizes(equal, AlignedCuts.of(equal, 10)) == Seq.fill(10)(100))
    assert(AlignedCuts.of(IndexedSeq.fill(1000)((7L, 7L)), 10).slots == 1)
    assert(AlignedCuts.of(IndexedSeq.empty, 10).slots == 1)
    assertThrows[IllegalArgumentException](AlignedCuts.of(equal, 0))
  }
}
