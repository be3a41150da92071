package org.sparkzorder.layout

import java.util.SplittableRandom

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ExactCutsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  private type Keys = IndexedSeq[(Long, Long)]

  private def uniform(rows: Int, bits: Int, seed: Long): Keys = {
    val random = new SplittableRandom(seed)
    IndexedSeq.fill(rows)((random.nextLong(1L << bits), random.nextLong())).sorted
  }

  private def sizes(keys: Keys, cuts: Cuts): Seq[Int] = {
    val slots = keys.map { case (z, t) => cuts.slot(z, t) }.groupBy(identity)
    (0 until cuts.slots).map(slots.get(_).fold(0)(_.size))
  }

  test("there are exactly as many parts as asked for, with a quarter to three times their share") {
    forAll(Gen.choose(1, 150), Gen.choose(0L, 1000L)) { (n, seed) =>
      val keys = uniform(100 * n, 20, seed)
      val found = sizes(keys, ExactCuts.of(keys, n))
      assert(found.length == n && found.sum == keys.length)
      assert(found.forall(s => s >= 25 && s <= 300), s"$n: $found")
    }
  }

  test("a few values with many rows make as many parts as asked for, or as there are different keys") {
    forAll(Gen.choose(1, 40), Gen.choose(0, 6), Gen.choose(0L, 1000L)) { (n, bits, seed) =>
      val keys = uniform(100 * n, bits, seed)
      assert(ExactCuts.of(keys, n).slots == n)
      val untied = keys.map { case (z, _) => (z, 0L) }
      val cuts = ExactCuts.of(untied, n)
      assert(cuts.slots <= math.min(n, untied.distinct.length))
      assert(cuts.keys.forall { case (z, tie) => tie <= 0 && z > 0 })
    }
  }

  test("if there are as many cells as parts asked for, the cells are the parts") {
    val keys = uniform(12800, 20, 1)
    assert(ExactCuts.of(keys, 64).keys == (1 until 64).map(i => (i.toLong << 14, Long.MinValue)))
  }

  test("a value that fits a part is in one part, whatever the ties of its rows") {
    forAll(Gen.choose(1, 40), Gen.choose(1, 400), Gen.choose(0L, 1000L)) { (n, rows, seed) =>
      val sample = IndexedSeq.tabulate(rows)(i => (i * 10L, new SplittableRandom(seed + i).nextLong()))
      val cuts = ExactCuts.of(sample, n)
      assert(cuts.slots == math.min(n, rows))
      sample.foreach { case (z, _) => assert(cuts.slot(z, Long.MinValue) == cuts.slot(z, Long.MaxValue)) }
    }
  }

  test("without rows, or with one key only, there is one part") {
    assert(ExactCuts.of(IndexedSeq.empty, 10).slots == 1)
    assert(ExactCuts.of(IndexedSeq.fill(1000)((7L, 7L)), 10).slots == 1)
  }
}
