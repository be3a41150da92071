package org.sparkzorder.write.sample

import scala.util.Random

import org.apache.spark.sql.types.StringType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.layout._
import org.sparkzorder.stats.KeyEncoding

class UnitLayoutsSuite extends AnyFunSuite {
  private val encodings = Seq.fill(2)(new KeyEncoding(StringType))

  private def text(n: Int): Array[Byte] = f"$n%060d".getBytes(java.nio.charset.StandardCharsets.US_ASCII)

  private def layout(rows: IndexedSeq[IndexedSeq[Int]], files: Int, curve: String, kept: Boolean): UnitLayout = {
    val columns = rows.head.indices.map(c => new SampledBytes(rows.map(r => text(r(c))).toArray): SampledColumn)
    val sample = new KeySample(new Array[Int](rows.size), Array.tabulate(rows.size)(_.toLong), columns.toArray)
    val shape = LayoutShape(curve, aligned = true)
    UnitLayouts(Array(0), IndexedSeq(files), encodings, Seq(1d, 1d), shape, stored = kept).of(Seq(sample)).units(0)
  }

  private def sizeOf(unit: UnitLayout): Long = unit.distributions.map(FrameBytes.size).sum

  /** The number of files that a point lookup reads, averaged over the columns. */
  private def touched(rows: IndexedSeq[IndexedSeq[Int]], unit: UnitLayout): Double = {
    val z = rows.map(r => unit.z(r.map(text)))
    val files = rows.indices.groupBy(i => unit.cuts.slot(z(i), i.toLong)).values.toSeq
    rows.head.indices.map { c =>
      val d = ValueDistribution.ofLongs(rows.map(_(c).toLong).toArray, 0)
      FilesTouched.mean(d, files.map(f => FileBounds.Longs(f.map(rows(_)(c)).min.toLong, f.map(rows(_)(c)).max.toLong)))
    }.sum / rows.head.size
  }

  test("few boundaries of a large sample make files as good as all of them", InRest) {
    val random = new Random(12)
    val files = 200
    val apart = IndexedSeq.fill(100 * files)(IndexedSeq.fill(2)(random.nextInt(1000000)))
    val together = IndexedSeq.fill(100 * files)(random.nextInt(1000000)).map(v => IndexedSeq(v, v))
    for ((rows, curve) <- Seq(apart -> LayoutSpec.ZOrder, together -> LayoutSpec.ZOrder, apart -> LayoutSpec.Order)) {
      val (exact, small) = (layout(rows, files, curve, kept = false), layout(rows, files, curve, kept = true))
      val (before, after) = (sizeOf(exact), sizeOf(small))
      assert(before > 10 * after && after <= FrameBudget.of(files))
      assert(small.keys.map(_.distinct) == exact.distributions.map(_.distinct))
      assert(math.abs(small.cuts.slots - exact.cuts.slots) <= 0.1 * files)
      val (best, found) = (touched(rows, exact), touched(rows, small))
      info(f"$curve: $before bytes, then $after; files touched $best%.2f, then $found%.2f")
      assert(found <= 1.1 * best)
    }
  }

  test("stored boundaries take at most 96 bytes a file, and those of one file still order its rows") {
    val random = new Random(13)
    val rows = IndexedSeq.fill(2000)(IndexedSeq.fill(2)(random.nextInt(1000000)))
    for (files <- Seq(4, 5, 8, 20)) {
      val unit = layout(rows, files, LayoutSpec.ZOrder, kept = true)
      assert(sizeOf(unit) <= 96 * files && unit.distributions.forall(_.distinct > files))
    }
    val one = layout(rows, 1, LayoutSpec.ZOrder, kept = true)
    assert(one.distributions.forall(_.distinct > 1000) && sizeOf(one) <= (16 << 10))
  }

  test("in a sort with equal files, few boundaries separate files as well as all do") {
    val random = new Random(14)
    val rows = random.shuffle((0 until 20000).toVector).map(v => IndexedSeq(v, v))
    val sample = rows.take(8000)
    for (files <- Seq(4, 7, 40)) {
      val columns = rows.head.indices.map(c => new SampledBytes(sample.map(r => text(r(c))).toArray): SampledColumn)
      val keys = new KeySample(new Array[Int](sample.size), Array.fill(sample.size)(random.nextLong()), columns.toArray)
      val shape = LayoutShape(LayoutSpec.Order, aligned = false)
      val unit =
        UnitLayouts(Array(0), IndexedSeq(files), encodings, Seq(1d, 1d), shape, stored = true).of(Seq(keys)).units(0)
      assert(unit.distributions.forall(_.distinct < 50 * files) && unit.cuts.slots == files)
      // This holds for rows that were not sampled, too.
      val found = rows.groupBy(r => unit.cuts.slot(unit.z(r.map(text)), random.nextLong())).toSeq.sortBy(_._1).map(_._2)
      found.zip(found.tail).foreach { case (a, b) => assert(a.map(_.head).max < b.map(_.head).min) }
      assert(found.forall(f => f.size > 15000 / files && f.size < 26000 / files))
    }
  }
}
