package org.sparkzorder.layout

import java.util.SplittableRandom

import scala.util.Random

import org.scalacheck.Gen

import org.sparkzorder.PropertySuite

/** The bits of columns by their weights and values, the two curves, and boxes on a curve. */
class CurvesSuite extends PropertySuite(1000) {
  private val random = new SplittableRandom(5)
  private val weights = Gen.choose(1, 9).flatMap(n => Gen.listOfN(n, Gen.oneOf(0.1, 0.5, 1d, 2d, 3.7, 8d, 1e9)))
  private val seed = Gen.choose(0L, Long.MaxValue)

  private def idsOf(plan: BitPlan, seed: Long): Array[Long] =
    Array.tabulate(plan.columns)(c => (seed >>> c) & ((1L << plan.bits(c)) - 1))

  private def names(plan: BitPlan): String = plan.sequence.mkString

  private def column(rows: Int)(value: Int => Long): ValueDistribution =
    ValueDistribution.ofLongs(Array.tabulate(rows)(value), 0)

  private def many(rows: Int = 20000): ValueDistribution = column(rows)(_ => random.nextLong(1L << 40))

  test("columns of equal weight take turns, and the first column leads") {
    for (n <- 1 to 8) {
      val plan = BitPlan(Seq.fill(n)(1d))
      assert(plan.totalBits == math.min(62, 20 * n))
      assert(plan.sequence == (0 until plan.totalBits).map(_ % n))
    }
    assert(names(BitShares.plan(Seq(1d, 1d, 1d), Seq(many(), many(), many()))).startsWith("012" * 9))
  }

  test("twice the weight is one bit earlier") {
    for ((weights, bits) <- Seq(Seq(1d, 2d) -> "101010", Seq(4d, 1d) -> "000101", Seq(0.8, 0.1, 0.1) -> "0000120"))
      assert(names(BitPlan(weights)).startsWith(bits))
  }

  test("one key alone owns all bits") {
    assert(BitPlan.forKeys(Seq(3d)).bits(0) == 62)
    assert(BitPlan.forKeys(Seq(1d, 1d)).totalBits == 40)
    assert(BitPlan.forKeys(Nil).totalBits == 0)
  }

  test("no bit is lost: the value of a point gives the point back") {
    forAll(weights, seed) { (w, seed) =>
      val plan = BitPlan(w)
      val ids = idsOf(plan, seed)
      val z = ZCurve.value(plan, ids)
      assert(z >= 0 && z < (1L << plan.totalBits))
      assert(ZCurve.point(plan, z).toSeq == ids.toSeq)
      assert((0 until plan.columns).map(plan.bits).sum == plan.totalBits)
      assert((0 until plan.columns).forall(plan.bits(_) <= 20))
    }
  }

  test("the value of the curve grows with each id") {
    forAll(weights, seed, Gen.choose(0, 8), Gen.choose(1L, 1L << 20)) { (w, seed, at, step) =>
      val plan = BitPlan(w)
      val c = at % plan.columns
      val ids = idsOf(plan, seed)
      val larger = ids.updated(c, math.min((1L << plan.bits(c)) - 1, ids(c) + step))
      whenever(larger(c) > ids(c)) {
        assert(ZCurve.value(plan, larger) > ZCurve.value(plan, ids))
      }
    }
  }

  test("a bad weight, id or width is refused") {
    Seq(0d, -1d, Double.NaN, Double.PositiveInfinity).foreach { w =>
      assertThrows[IllegalArgumentException](BitPlan(Seq(1d, w)))
    }
    assertThrows[IllegalArgumentException](BitPlan(Seq(1d), maxBitsPerColumn = 63))
    assertThrows[IllegalArgumentException](BitPlan(Seq(1d), totalBits = 63))
    assertThrows[IllegalArgumentException](ZCurve.value(BitPlan(Seq(1d)), Array(1L << 20)))
  }

  test("a boolean takes one bit, and late if few rows are true, a column of three values two, and a constant none") {
    val few = Seq(column(20000)(i => i % 2L), column(20000)(i => i % 3L), column(20000)(_ => 7L))
    val plan = BitShares.plan(Seq.fill(4)(1d), few :+ many())
    assert(Seq(0, 1, 2).map(plan.bits) == Seq(1, 2, 0))
    assert(plan.bits(3) >= 14)
    val late = BitShares.plan(Seq(1d, 1d), Seq(column(20000)(i => if (i % 100 == 0) 1L else 0L), many()))
    assert(late.bits(0) == 1)
    assert(late.sequence.indexOf(0) >= 4)
  }

  test("eight rows cannot decide which column gets the next bit, but a weight can, which gets whole bits first") {
    val even = column(8)(i => i / 2L)
    val uneven = column(8)(i => Seq(0, 0, 0, 1, 2, 3, 3, 3)(i).toLong)
    assert(names(BitShares.plan(Seq(1d, 1d), Seq(uneven, even))) == "0101")
    assert(names(BitShares.plan(Seq(1d, 2d), Seq(even, even))) == "1010")
    for ((weights, bits) <- Seq(Seq(4d, 1d) -> "000101010", Seq(8d, 1d, 1d) -> "0000120120"))
      assert(names(BitShares.plan(weights, weights.map(_ => many()))).startsWith(bits))
  }

  test("a value that fills most rows does not take the bits of others") {
    val skewed = column(20000)(i => if (i % 10 != 0) 0L else random.nextLong(1L << 40))
    val plan = BitShares.plan(Seq(1d, 1d), Seq(skewed, many()))
    // This value makes 0.81 of its column's width, so more than a few bits gain little.
    assert(plan.sequence.take(8).count(_ == 1) >= 5)
  }

  test("a sort's plan takes column after column, and without rows, or with nulls only, there are no bits") {
    val plan = BitShares.lexicographic(Seq(column(1000)(i => i % 4L), many(1000)))
    assert(names(plan).startsWith("001111"))
    assert(BitShares.lexicographic(Seq(many(1000))).totalBits == BitPlan.MaxTotalBits)
    for (nulls <- Seq(0, 10)) {
      val none = ValueDistribution.ofLongs(Array.empty, nulls)
      assert(BitShares.plan(Seq(1d, 1d), Seq(none, none)).totalBits == 0)
    }
  }

  /** All points of columns of so many bits. */
  private def points(bits: Seq[Int]): Seq[Seq[Long]] =
    bits.foldLeft(Seq(Seq.empty[Long]))((ps, b) => ps.flatMap(p => (0L until (1L << b)).map(p :+ _)))

  private def value(curve: Curve, point: Seq[Long]): Long =
    curve.value(point.zipWithIndex.foldLeft(0L) { case (s, (id, c)) => s | curve.spread(c, id) })

  test("a Hilbert curve visits every point once, and each is next to the one before") {
    for ((columns, bits) <- Seq((2, 1), (2, 5), (3, 1), (3, 3), (4, 2), (5, 2), (6, 1), (6, 2))) {
      val ordered = points(Seq.fill(columns)(bits)).sortBy(p => HilbertCurve.value(p.toArray, bits))
      assert(ordered.map(p => HilbertCurve.value(p.toArray, bits)) == ordered.indices.map(_.toLong))
      ordered.zip(ordered.drop(1)).foreach { case (a, b) =>
        assert(a.zip(b).map { case (x, y) => math.abs(x - y) }.sum == 1, s"$columns columns of $bits bits: $a, $b")
      }
    }
  }

  private val plans = for {
    columns <- Gen.choose(2, 4)
    weights <- Gen.listOfN(columns, Gen.oneOf(1d, 2d, 5d, 16d))
    perColumn <- Gen.choose(1, 3)
    depth <- Gen.choose(0, 14)
  } yield HilbertCurve.of(BitPlan(weights, perColumn, columns * perColumn), depth)

  test("with weights it still visits every point once, and all points with the same prefix are a box") {
    forAll(plans, minSuccessful(150)) { curve =>
      val all = points((0 until curve.columns).map(curve.bits))
      val values = all.map(p => value(curve, p) -> p)
      assert(values.map(_._1).sorted == all.indices.map(_.toLong))
      assert(all.length == 1 << curve.totalBits)
      for (prefix <- 0 to curve.totalBits)
        values.groupBy(_._1 >>> (curve.totalBits - prefix)).values.foreach { cell =>
          val sides = (0 until curve.columns).map(c => cell.map(_._2(c)))
          assert(sides.map(s => s.max - s.min + 1).product == cell.length)
        }
    }
  }

  test("a column with four times the weight is cut twice before the others") {
    val curve = HilbertCurve.of(BitPlan(Seq(4d, 1d), 6, 12), 8)
    assert(curve.isInstanceOf[HilbertCurve] && (0 to 1).map(curve.bits) == Seq(6, 4))
    for (heavy <- 0L until 64L; light <- 0L until 16L)
      assert(value(curve, Seq(heavy, light)) >>> (curve.totalBits - 2) == heavy / 16)
  }

  test("the example of the literature: two columns of three bits, y leads, x from 2 to 3 and y from 2 to 6") {
    val plan = BitPlan.ofSequence(Seq(0, 1, 0, 1, 0, 1), 2)
    val box = new QueryBox(plan, Array(2L, 2L), Array(6L, 3L))
    assert((box.first, box.last) == (12L, 45L))
    assert(box.next(20) == 36)
    val other = new QueryBox(BitPlan.ofSequence(Seq(1, 0, 1, 0, 1, 0), 2), Array(2L, 2L), Array(6L, 3L))
    assert((other.first, other.last) == (12L, 30L))
    assert(other.next(20) == 24)
  }

  test("the next point of a box is the one that a search through all values finds, for any columns and bits") {
    val random = new Random(5)
    var jumps = 0
    for (_ <- 1 to 3000) {
      val columns = 1 + random.nextInt(4)
      val plan = BitPlan.ofSequence(Seq.fill(random.nextInt(9))(random.nextInt(columns)), columns)
      val ends = (0 until columns).map { c =>
        val a = random.nextInt(1 << plan.bits(c)).toLong
        val b = random.nextInt(1 << plan.bits(c)).toLong
        (math.min(a, b), math.max(a, b))
      }
      val box = new QueryBox(plan, ends.map(_._1).toArray, ends.map(_._2).toArray)
      val size = 1 << plan.totalBits
      val inside = (0 until size).map { z =>
        ZCurve.point(plan, z.toLong).zip(ends).forall { case (id, (low, high)) => low <= id && id <= high }
      }
      val next = new Array[Long](size + 1)
      next(size) = -1L
      (size - 1 to 0 by -1).foreach(z => next(z) = if (inside(z)) z.toLong else next(z + 1))
      (0 until size).foreach { z =>
        assert(box.next(z.toLong) == next(z), s"${plan.sequence}, $ends, from $z")
        if (next(z) > z) jumps += 1
        val to = z + random.nextInt(size - z)
        val meets = inside.slice(z, to + 1).contains(true)
        assert(box.meets(z.toLong, to.toLong) == meets, s"${plan.sequence}, $ends, $z to $to")
      }
    }
    assert(jumps > 10000)
  }

  test("curves of 62 bits, with boxes of all points and of a single one") {
    val plan = BitPlan(Seq(1d, 1d, 1d), 21, 62)
    val most = (0 until 3).map(c => (1L << plan.bits(c)) - 1).toArray
    val all = new QueryBox(plan, Array(0L, 0L, 0L), most)
    assert((all.first, all.last) == (0L, (1L << 62) - 1))
    val random = new Random(6)
    for (_ <- 1 to 10000) {
      val z = random.nextLong() & ((1L << 62) - 1)
      assert(all.next(z) == z)
      val point = ZCurve.point(plan, z)
      val one = new QueryBox(plan, point, point)
      assert(one.next(0) == z && one.next(z) == z && one.meets(z, z))
      if (z < (1L << 62) - 1) assert(one.next(z + 1) == -1 && !one.meets(z + 1, (1L << 62) - 1))
    }
  }
}
