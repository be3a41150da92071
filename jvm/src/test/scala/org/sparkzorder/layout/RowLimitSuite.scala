package org.sparkzorder.layout

import java.util.SplittableRandom

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class RowLimitSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  private def files(zs: Seq[Long], most: Long, coarseness: Long => Long = identity): Seq[Seq[Long]] = {
    val limit = new RowLimit(most, coarseness)
    zs.foldLeft(Vector.empty[Vector[Long]]) {
      case (done :+ open, z) if !limit.beginsFile(z) => done :+ (open :+ z)
      case (Vector(), z)                             => assert(!limit.beginsFile(z)); Vector(Vector(z))
      case (all, z)                                  => all :+ Vector(z)
    }
  }

  private def ascending(rows: Int, bits: Int, seed: Long): Seq[Long] = {
    val random = new SplittableRandom(seed)
    Seq.fill(rows)(random.nextLong(1L << bits)).sorted
  }

  test("no file has too many rows, only the last one less than half of that, and all rows are in order") {
    forAll(Gen.choose(1, 300), Gen.choose(0, 2000), Gen.choose(0, 20), Gen.choose(0L, 1000L)) {
      (most, rows, bits, seed) =>
        val zs = ascending(rows, bits, seed)
        val found = files(zs, most.toLong)
        assert(found.flatten == zs)
        assert(found.forall(_.length <= most) && found.dropRight(1).forall(_.length * 2 >= most))
    }
  }

  test("in a grid, files are whole cells of the largest size that fits") {
    for (most <- Seq(64, 65, 70, 100, 127))
      assert(files(0L until 4096L, most.toLong) == (0L until 4096L).grouped(64).toSeq, most)
  }

  test("a value that fits a file is in one file") {
    forAll(Gen.choose(32, 300), Gen.choose(1, 18)) { (most, size) =>
      val zs = (0L until 300L).flatMap(z => Seq.fill(math.min(size, most / 16))(z))
      val found = files(zs, most.toLong)
      assert(found.map(_.distinct.length).sum == 300)
      val heavy = files(Seq.fill(most / 2 + 1)(0L) ++ Seq.fill(5 * most)(7L) ++ Seq.fill(most / 2)(8L), most.toLong)
      assert(heavy.count(_.contains(7L)) <= 6 && heavy.exists(f => f.distinct == Seq(0L)))
    }
  }

  test("if all borders are equally coarse, files are full") {
    val found = files((0L until 10000L), 160L, _ => 0L)
    assert(found.dropRight(1).forall(_.length == 160))
  }
}
