package org.sparkzorder.layout

import scala.util.Random

import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.stats.ColumnKey

class IncrementalPolicySuite extends AnyFunSuite {
  private val shape = LayoutShape(LayoutSpec.ZOrder, aligned = true)

  /** A table of random points with its files in memory, which are cut again and again as OPTIMIZE does. */
  private final class Table(columns: Int, files: Int, rowsOfFile: Int, seed: Long) {
    private val random = new Random(seed)

    private val first = points(files * rowsOfFile)
    private val (unit, cuts) = laidOut(first)
    private val frame = new CurveFrame("f", IndexedSeq.fill(columns)(null), unit.distributions, unit.curve)
    private var held: Seq[Held] = cut(first.map(row), cuts, (_, _) => CurveInterval.Cell)
    private var fresh: Seq[Row] = Nil
    private var ties = 0L

    def rows: Int = held.map(_.rows.size).sum

    private def points(n: Int) = IndexedSeq.fill(n)(Array.fill(columns)(random.nextInt(1000000).toLong))

    private def row(values: Array[Long]): Row = {
      ties += 1
      Row(values, unit.z(values.toSeq), ties)
    }

    private def laidOut(points: Seq[Array[Long]]): (UnitLayout, Cuts) = {
      val distributions = (0 until columns).map(c => ValueDistribution.ofLongs(points.map(_(c)).toArray, 0))
      val n = math.round(points.size.toDouble / rowsOfFile).toInt
      val curve = shape.curveOf(Seq.fill(columns)(1d), distributions, n)
      val uncut = new UnitLayout(distributions, curve, Cuts.none)
      val keys = points.zipWithIndex.map { case (p, i) => (uncut.z(p.toSeq), i.toLong) }.sorted.toIndexedSeq
      (uncut, shape.cutsOf(keys, n, curve))
    }

    private def cut(rows: Seq[Row], cuts: Cuts, layer: (Long, Long) => Int): Seq[Held] = {
      val intervals = CurveInterval.ofSlots(unit.curve, cuts)
      rows.groupBy(r => cuts.slot(r.z, r.tie)).toSeq.map { case (slot, own) =>
        val (low, high) = intervals(slot)
        assert(own.forall(r => low <= r.z && r.z <= high))
        Held(low, high, layer(low, high), own)
      }
    }

    private def touched(files: Iterable[Iterable[Array[Long]]]): Double = files.map { rows =>
      (0 until columns).map { c =>
        val values = rows.map(_(c))
        (values.max - values.min) / 1e6
      }.sum / columns
    }.sum

    /**
     * @return the written rows and the files per lookup, both as multiples of those of a full
     * rewrite
     */
    def round(share: Double): (Double, Double) = {
      fresh = points((rows * share / (1 - share)).toInt).map(row)
      val cells = held.filter(_.layer == CurveInterval.Cell).sortBy(_.low).toIndexedSeq
      val over = held.filter(_.layer == CurveInterval.Over).toIndexedSeq
      def piece(h: Held) = CurvePiece(h.low, h.high, h.rows.size.toLong)
      val choice = IncrementalPolicy
        .choose(cells.map(piece), over.map(piece), fresh.size.toLong, rowsOfFile.toLong, columns).get
      val taken = cells.slice(choice.from, choice.until)
      val absorbed = over.indices.filter(choice.absorbed).map(over(_))
      val written = (taken ++ absorbed).flatMap(_.rows) ++ fresh
      val starts = if (taken.isEmpty) IndexedSeq.empty
      else (if (choice.from == 0) 0L else taken.head.low) +: taken.tail.map(_.low)
      val until =
        if (taken.isEmpty) 0L else if (choice.until == cells.length) frame.last + 1 else cells(choice.until).low
      val placement = Placement(frame, starts, until, written.size.toDouble / rowsOfFile)
      val again = placement.cuts(written.map(r => (r.z, r.tie)).sorted.toIndexedSeq, shape)
      val before = rows + fresh.size
      held = held.diff(taken).diff(absorbed) ++ cut(written, again, placement.layer)
      assert(rows == before, "rows were lost")
      assert(math.abs(choice.bytes - written.size) <= 1)
      val all = held.flatMap(_.rows)
      val (full, fullCuts) = laidOut(all.map(_.values))
      val whole = all.zipWithIndex.groupBy { case (r, i) => fullCuts.slot(full.z(r.values.toSeq), i.toLong) }
      (
        written.size.toDouble / rows,
        touched(held.map(_.rows.map(_.values))) / touched(whole.values.map(_.map(_._1.values)))
      )
    }
  }

  test("ten rounds of 5 % new rows write at most 15 % of all, with the files per lookup of the design", InRest) {
    val figures = for (columns <- Seq(2, 3, 4); files <- Seq(64, 100, 400)) yield {
      val table = new Table(columns, files, rowsOfFile = 40, seed = 11)
      val rounds = (1 to 10).map(_ => table.round(0.05))
      info(f"$columns columns, $files files: written at most ${rounds.map(_._1).max}%.3f of a full rewrite; files per lookup " +
        rounds.map(r => f"${r._2}%.2f").mkString(" "))
      assert(rounds.forall(_._1 <= 0.15))
      (columns, rounds.map(_._2).max)
    }
    figures.foreach { case (columns, worst) =>
      assert(worst <= (if (columns == 2) 1.25 else 1.15), s"$columns columns")
    }
  }

  test("it never writes more than the budget, and all files over a rewritten cell are rewritten too") {
    val random = new Random(12)
    for (_ <- 1 to 300) {
      val n = 1 + random.nextInt(300)
      val cells = (0 until n).map(i => CurvePiece(i * 10L, i * 10L + 9, 1 + random.nextInt(200).toLong))
      val over = IndexedSeq.fill(random.nextInt(12)) {
        val from = random.nextInt(n)
        val to = from + random.nextInt(n - from)
        CurvePiece(from * 10L, to * 10L + 9, 1 + random.nextInt(200).toLong)
      }
      val fresh = random.nextInt(4000).toLong
      val total = cells.map(_.bytes).sum + over.map(_.bytes).sum + fresh
      IncrementalPolicy.choose(cells, over, fresh, 100, 1 + random.nextInt(4)) match {
        case None         => assert(fresh > 0.14 * total)
        case Some(choice) =>
          val bytes = fresh + cells.slice(choice.from, choice.until).map(_.bytes).sum +
            choice.absorbed.toSeq.map(over(_).bytes).sum
          assert(bytes == choice.bytes && bytes <= IncrementalPolicy.Budget * total)
          (choice.from until choice.until).foreach { c =>
            over.indices.filter(i => over(i).low <= cells(c).high && cells(c).low <= over(i).high)
              .foreach(i => assert(choice.absorbed(i)))
          }
      }
    }
  }

  test("small additions cost little, however many there are, and no cell is rewritten all the time") {
    for {
      (columns, cells, share, rounds) <-
        Seq((3, 200, 1e-4, 50), (2, 200, 1e-3, 300), (3, 800, 1e-3, 50), (3, 64, 1e-2, 60), (2, 8, 1e-3, 200)) ++
          Seq((1, 1, 1e-3, 1000), (2, 1, 1e-2, 300), (3, 1, 5e-2, 100), (2, 2, 1e-3, 1000), (2, 3, 1e-2, 300)) ++
          Seq((3, 5, 1e-3, 1000), (2, 7, 1e-2, 300), (1, 50, 1e-2, 100))
    } {
      val table = new Sizes(columns, cells)
      val done = (1 to rounds).map(_ => table.round(share))
      val (written, fresh) = (done.map(_.written).sum, done.map(_.fresh).sum)
      info(
        f"$columns columns, $cells cells, ${100 * share} %% new, $rounds times: written ${written / fresh}%.1f times what " +
          f"was new, at most ${done.map(_.ratio).max}%.3f times the files per lookup, ${done.map(_.over).max} files over " +
          s"the cells, cells rewritten ${table.times.min} to ${table.times.max} times, all ${table.full} times"
      )
      // A table of a few cells is soon rewritten as a whole.
      assert(written <= (if (cells < 50) 40 else 20) * fresh)
      assert(table.times.max <= rounds / 5)
    }
  }

  test("a choice among many cells and files over them takes a moment") {
    val cells = (0 until 20000).map(i => CurvePiece(i.toLong, i.toLong, 100))
    val over = (0 until 2000).map(i => CurvePiece(i * 10L, i * 10L + 9, 100))
    val start = System.nanoTime()
    assert(IncrementalPolicy.choose(cells, over, 100000, 100, 3).isDefined)
    val seconds = (System.nanoTime() - start) / 1e9
    info(f"$seconds%.2f s")
    assert(seconds < 20)
  }

  private val plan = BitPlan(Seq(1d, 1d), 6, 12)
  private val frame = {
    val distribution = ValueDistribution.ofLongs(Array(1L), 0)
    val columns = Seq("a", "b").map(n => FrameColumn(ColumnKey(Seq(n), LongType), lasting = true))
    new CurveFrame("f", columns.toIndexedSeq, IndexedSeq.fill(2)(distribution), plan)
  }

  private def keys(random: Random, n: Int): IndexedSeq[(Long, Long)] =
    IndexedSeq.tabulate(n)(i => (random.nextInt(1 << (4 + random.nextInt(9))).toLong, i.toLong)).sorted

  test("each file of a cell is within this cell, and all other files are outside of the cells") {
    val random = new Random(3)
    for (_ <- 1 to 2000) {
      val sample = keys(random, random.nextInt(400))
      val borders = Seq.fill(random.nextInt(6))(random.nextInt(1 << 12).toLong).distinct.sorted.toIndexedSeq
      val (cells, until) =
        if (borders.length < 2) (IndexedSeq.empty[Long], 0L)
        else if (random.nextBoolean()) (borders, frame.last + 1)
        else (borders.init, borders.last)
      val placement = Placement(frame, cells, until, 1 + random.nextInt(40).toDouble)
      val cuts = placement.cuts(sample, LayoutShape(LayoutSpec.ZOrder, aligned = random.nextBoolean()))
      val intervals = CurveInterval.ofSlots(plan, cuts)
      assert(intervals.length == cuts.slots)
      assert(intervals.head._1 == 0 && intervals.last._2 == frame.last)
      sample.foreach { case (z, tie) =>
        val (low, high) = intervals(cuts.slot(z, tie))
        assert(low <= z && z <= high)
      }
      intervals.foreach { case (low, high) =>
        def cell(z: Long) = if (cells.isEmpty || z < cells.head || z >= until) -1 else cells.lastIndexWhere(_ <= z)
        assert(cell(low) == cell(high), s"$low to $high with cells $cells until $until")
        assert(placement.layer(low, high) == (if (cell(low) < 0) CurveInterval.Over else CurveInterval.Cell))
      }
    }
  }

  test("a cell of more than 1.5 times the target is cut, a smaller one is not") {
    val sample = IndexedSeq.tabulate(400)(i => (i.toLong, 0L)) ++ IndexedSeq.tabulate(140)(i => (2048L + i, 0L))
    val cells = IndexedSeq(0L, 2048L)
    val cuts = Placement(frame, cells, frame.last + 1, 5.4).cuts(sample, LayoutShape(LayoutSpec.ZOrder, aligned = true))
    val intervals = CurveInterval.ofSlots(plan, cuts)
    assert(intervals.count(_._1 >= 2048) == 1)
    assert((3 to 5).contains(intervals.count(_._1 < 2048)))
  }

  /** The bytes that a round wrote and the new ones among them, the estimated ratio, and the files over the cells. */
  private case class Round(written: Double, fresh: Double, ratio: Double, over: Int)

  /** A table that consists of sizes only: new rows are spread evenly over all cells. */
  private final class Sizes(columns: Int, cells: Int) {
    private val target = 1000000L
    private var sizes = IndexedSeq.fill(cells)(target)
    private var over = IndexedSeq.empty[CurvePiece]

    /** How often each cell was written anew. */
    val times = new Array[Int](cells)

    /** How often the whole table was written anew. */
    var full = 0

    def round(share: Double): Round = {
      val fresh = ((sizes.sum + over.map(_.bytes).sum) * share).toLong
      val pieces = sizes.zipWithIndex.map { case (bytes, i) => CurvePiece(i.toLong, i.toLong, bytes) }
      val choice = IncrementalPolicy.choose(pieces, over, fresh, target, columns).get
      if (choice.isPoor) rewritten(fresh) else placed(choice, fresh)
    }

    private def rewritten(fresh: Long): Round = {
      val total = sizes.sum + over.map(_.bytes).sum + fresh
      full += 1
      sizes = IndexedSeq.fill(cells)(total / cells)
      over = IndexedSeq.empty
      Round(total.toDouble, fresh.toDouble, 1, 0)
    }

    private def placed(choice: IncrementalChoice, fresh: Long): Round = {
      val moved = Array.fill(cells)(fresh.toDouble / cells)
      choice.absorbed.map(over(_)).foreach { o =>
        (o.low to o.high).foreach(c => moved(c.toInt) += o.bytes.toDouble / (o.high - o.low + 1))
      }
      over = over.indices.filterNot(choice.absorbed).map(over(_)) ++
        wide(moved, 0, if (choice.until > choice.from) choice.from else cells) ++
        (if (choice.until > choice.from) wide(moved, choice.until, cells) else Nil)
      (choice.from until choice.until).foreach(times(_) += 1)
      sizes = sizes.indices.map(c => if (c >= choice.from && c < choice.until) sizes(c) + moved(c).toLong else sizes(c))
      Round(choice.bytes.toDouble, fresh.toDouble, choice.ratio, over.length)
    }

    private def wide(moved: Array[Double], from: Int, until: Int): Seq[CurvePiece] = {
      val all = moved.slice(from, until).sum
      val n = math.min(until - from, math.max(1, math.ceil(all / (Placement.OverTarget * target.toDouble)).toInt))
      if (until <= from || all < 1) Nil
      else (0 until n).map { i =>
        val (a, b) = (from + (until - from) * i / n, from + (until - from) * (i + 1) / n)
        CurvePiece(a.toLong, b.toLong - 1, math.max(1L, moved.slice(a, b).sum.toLong))
      }
    }
  }

  private case class Row(values: Array[Long], z: Long, tie: Long)

  /** A file with its interval and its rows. */
  private case class Held(low: Long, high: Long, layer: Int, rows: Seq[Row])
}
