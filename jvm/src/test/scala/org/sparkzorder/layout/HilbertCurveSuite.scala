package org.sparkzorder.layout

import org.scalacheck.Gen

import org.sparkzorder.PropertySuite

class HilbertCurveSuite extends PropertySuite(150) {

  /** All points of columns of so many bits. */
  private def points(bits: Seq[Int]): Seq[Seq[Long]] =
    bits.foldLeft(Seq(Seq.empty[Long]))((ps, b) => ps.flatMap(p => (0L until (1L << b)).map(p :+ _)))

  private def value(curve: Curve, point: Seq[Long]): Long =
    curve.value(point.zipWithIndex.foldLeft(0L) { case (s, (id, c)) => s | curve.spread(c, id) })

  test("in two dimensions it is the curve of the literature") {
    // The 4 x 4 curve as printed in Hilbert's paper, by row y and column x. The curve goes up first.
    val table = Seq(Seq(0, 1, 14, 15), Seq(3, 2, 13, 12), Seq(4, 7, 8, 11), Seq(5, 6, 9, 10))
    for (y <- 0 until 4; x <- 0 until 4)
      assert(HilbertCurve.value(Array(x.toLong, y.toLong), 2) == table(y)(x), s"x = $x, y = $y")
  }

  test("it visits every point once, and each is next to the one before") {
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
    forAll(plans) { curve =>
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
}
