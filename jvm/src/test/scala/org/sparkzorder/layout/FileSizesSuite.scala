package org.sparkzorder.layout

import java.util.SplittableRandom

import scala.util.Random

import org.scalacheck.Gen

import org.sparkzorder.PropertySuite

/** How many files a unit gets, how many rows a file may have, and how wide the rows of a place are. */
class FileSizesSuite extends PropertySuite(200) {
  private val size = Gen.frequency(1 -> Gen.const(0L), 4 -> Gen.choose(1L, 1L << 45))
  private val sizes = Gen.choose(1, 30).flatMap(Gen.listOfN(_, size))

  test("by size: the nearest number of files, at least one") {
    assert(FileCounts.bySize(Seq(0L, 49L, 149L, 150L, 1000L), 100L) == Seq(1, 1, 1, 2, 10))
    assert(FileCounts.bySize(Seq(Long.MaxValue), Long.MaxValue) == Seq(1))
    assertThrows[IllegalArgumentException](FileCounts.bySize(Seq(1L), 0L))
  }

  test("by number: all files are shared out, at least one to each unit, and more to larger units") {
    forAll(sizes, Gen.choose(1, 5000), minSuccessful(1000)) { (bytes, n) =>
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
