package org.sparkzorder.write

import java.util.UUID

import scala.util.Random

import org.apache.spark.sql.types.{LongType, StringType}

import org.sparkzorder.index.FrameSizes
import org.sparkzorder.layout._
import org.sparkzorder.stats.ColumnKey

/**
 * Measures the cost and the use of boundaries, for several sizes in bytes a file: the bytes of the
 * block of intervals for each file, the files that a lookup reads by bounds of columns, the files
 * that a query of a box reads by bounds and by intervals, and the rows of the largest file. Prints
 * one line for each size.
 *
 * `FrameBench <files> <bytes a file, 0 for all boundaries> ..`
 */
object FrameBench {
  private val random = new Random(5)

  private sealed trait Kind
  private case object Ints extends Kind
  private case object Hashes extends Kind
  private case object Texts extends Kind

  def main(args: Array[String]): Unit = {
    val (files, budgets) = (args(0).toInt, args.drop(1).map(_.toLong))
    for {
      kind <- Seq(Ints, Hashes, Texts)
      columns <- Seq(1, 2, 4)
      together <- if (columns == 2) Seq(false, true) else Seq(false)
      cuts <- Seq("aligned", "equal")
    } {
      val rows = IndexedSeq.fill(math.max(2000, files * 300))(row(kind, columns, together))
      val sample = if (rows.size <= 2000) rows else rows.take(math.max(2000, files * 100))
      budgets.foreach { budget =>
        val shape = LayoutShape(LayoutSpec.ZOrder, aligned = cuts == "aligned")
        val unit = layout(kind, sample, files, shape, budget)
        val raw = unit.distributions.map(FrameBytes.size).sum
        val perFile = FrameSizes.packed(intervals(kind, unit)).toDouble / unit.cuts.slots
        val values = unit.distributions.map(_.distinct).mkString("/")
        val keys = s"$columns ${if (together) "equal" else "independent"}"
        println(
          f"RESULT $files%5d files, $kind%-6s $keys%-13s $cuts%-7s $budget%5d bytes a file: $values%-20s values, $raw%8d bytes, " +
            f"$perFile%8.1f a file compressed; ${quality(rows, unit, columns)}"
        )
      }
    }
  }

  private def row(kind: Kind, columns: Int, together: Boolean): IndexedSeq[Any] = {
    def one: Any = kind match {
      case Ints   => random.nextInt(1000000).toLong
      case Hashes => random.nextLong()
      case Texts  => new UUID(random.nextLong(), random.nextLong()).toString.getBytes("US-ASCII")
    }
    if (together) { val v = one; IndexedSeq.fill(columns)(v) }
    else IndexedSeq.fill(columns)(one)
  }

  private def distribution(kind: Kind, values: IndexedSeq[Any]): ValueDistribution = kind match {
    case Texts => ValueDistribution.ofBytes(values.map(_.asInstanceOf[Array[Byte]]).toArray, 0)
    case _     => ValueDistribution.ofLongs(values.map(_.asInstanceOf[Long]).toArray, 0)
  }

  private def layout(
      kind: Kind,
      sample: IndexedSeq[IndexedSeq[Any]],
      files: Int,
      shape: LayoutShape,
      budget: Long
  ): UnitLayout = {
    val all = sample.head.indices.map(c => distribution(kind, sample.map(_(c))))
    val kept = if (budget == 0) all else FrameBudget.fit(all, budget * files, files)
    val curve = shape.curveOf(all.map(_ => 1d), kept, files)
    val uncut = new UnitLayout(kept, curve, Cuts.none)
    val keys = sample.zipWithIndex.map { case (r, i) => (uncut.z(r), i.toLong * 7919 % sample.size) }.sorted
    new UnitLayout(kept, curve, if (files == 1) Cuts.none else shape.cutsOf(keys, files, curve))
  }

  private def intervals(kind: Kind, unit: UnitLayout): IndexedSeq[CurveInterval] = {
    val dataType = if (kind == Texts) StringType else LongType
    val frame = new CurveFrame(
      UUID.randomUUID().toString,
      unit.distributions.indices.map(c => FrameColumn(ColumnKey(Seq(s"column$c"), dataType), lasting = true)),
      unit.distributions,
      unit.curve
    )
    CurveInterval.ofSlots(unit.curve, unit.cuts).map { case (l, h) => CurveInterval(frame, l, h, CurveInterval.Cell) }
  }

  private def quality(rows: IndexedSeq[IndexedSeq[Any]], unit: UnitLayout, columns: Int): String = {
    def rank(c: Int) = {
      val order = rows.indices.sortWith((a, b) => less(rows(a)(c), rows(b)(c)))
      val ranks = new Array[Int](rows.size)
      order.zipWithIndex.foreach { case (i, r) => ranks(i) = r }
      ranks
    }
    val ranks = (0 until columns).map(rank)
    val z = rows.map(unit.z)
    val slots = rows.indices.groupBy(i => unit.cuts.slot(z(i), i.toLong * 104729 % rows.size))
    val boxes = slots.toSeq.map { case (s, is) =>
      s -> (0 until columns).map(c => (is.map(ranks(c)(_)).min, is.map(ranks(c)(_)).max))
    }
    def widths(c: Int) = boxes.map(_._2(c)).map { case (a, b) => (b - a + 1).toDouble / rows.size }.sum
    val touched = (0 until columns).map(widths).sum / columns
    val spans = CurveInterval.ofSlots(unit.curve, unit.cuts)
    var byBounds = 0
    var byBoth = 0
    val random = new Random(7)
    val queries = 300
    (1 to queries).foreach { _ =>
      val box = (0 until columns).map { _ =>
        val w = (rows.size * 0.5 * random.nextDouble()).toInt
        val from = random.nextInt(rows.size - w)
        (from, from + w)
      }
      val kept = boxes.filter { case (_, b) => b.zip(box).forall { case ((a, z), (l, h)) => a <= h && l <= z } }
      byBounds += kept.size
      unit.curve match {
        case plan: BitPlan =>
          // By value, this is the row of that rank.
          val low = (0 until columns).map(c => id(unit, plan, c, byRank(rows, ranks(c), box(c)._1, c)))
          val high = (0 until columns).map(c => id(unit, plan, c, byRank(rows, ranks(c), box(c)._2, c)))
          val q = new QueryBox(plan, low.toArray, high.toArray)
          byBoth += kept.count { case (s, _) => q.meets(spans(s)._1, spans(s)._2) }
        case _ =>
      }
    }
    val sizes = slots.values.map(_.size)
    f"${slots.size}%5d files, a lookup reads $touched%7.2f, a box ${byBounds.toDouble / queries}%7.2f by bounds and " +
      f"${byBoth.toDouble / queries}%7.2f by intervals, the largest has ${sizes.max.toDouble * unit.cuts.slots / rows.size}%5.2f"
  }

  private var inverse = Map.empty[Array[Int], Array[Int]]

  private def byRank(rows: IndexedSeq[IndexedSeq[Any]], ranks: Array[Int], r: Int, c: Int): Any = {
    val found = inverse.getOrElse(
      ranks, {
        val made = new Array[Int](ranks.length)
        ranks.zipWithIndex.foreach { case (rank, i) => made(rank) = i }
        inverse = Map(ranks -> made) ++ inverse.take(5)
        made
      }
    )
    rows(found(r))(c)
  }

  private def id(unit: UnitLayout, plan: BitPlan, c: Int, v: Any): Long =
    unit.distributions(c).id(unit.places(unit.distributions.indices.map(i => if (i == c) v else null))(c), plan.bits(c))

  private def less(a: Any, b: Any): Boolean = (a, b) match {
    case (x: Long, y: Long)               => x < y
    case (x: Array[Byte], y: Array[Byte]) => java.util.Arrays.compareUnsigned(x, y) < 0
    case _                                => throw new IllegalArgumentException("other")
  }
}
