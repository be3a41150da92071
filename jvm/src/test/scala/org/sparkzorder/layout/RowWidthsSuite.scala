package org.sparkzorder.layout

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class RowWidthsSuite extends AnyFunSuite {

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
