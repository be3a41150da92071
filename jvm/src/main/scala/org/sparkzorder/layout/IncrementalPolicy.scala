package org.sparkzorder.layout

import java.util.{Arrays, BitSet}

/** A file, or files that share values of the curve: what is between two values of it, both included. */
final case class CurvePiece(low: Long, high: Long, bytes: Long)

/**
 * What to rewrite with new rows.
 *
 * @param from the first cell to write anew
 * @param until one more than the last
 * @param absorbed files over the cells that are written anew as well
 * @param bytes to write, the new ones among them
 * @param ratio files that a lookup reads afterwards, of those after a full rewrite, as estimated
 * @param more files that a lookup reads afterwards beyond those after a full rewrite, as estimated
 */
final case class IncrementalChoice(from: Int, until: Int, absorbed: Set[Int], bytes: Long, ratio: Double, more: Double)

/**
 * Chooses what to rewrite when a few new rows come to a table along a curve: new rows of all places would touch every
 * cell. So each round takes new rows into a range of cells only, and writes the others to files over many cells,
 * together with what lies there already along another part of the curve, as far as the budget goes; later rounds come
 * to other cells.
 *
 * A file over the s-th part of the curve is read by s^(1/D) of the lookups on each of D columns, as if it were a cube;
 * a cell is one too. Of many ways to divide the budget between cells and files over them, the one with the fewest files
 * per lookup is taken, where bytes that stay over the cells count a little, as they are still to be dealt with.
 */
object IncrementalPolicy {

  /** Of a full rewrite, what may be written. */
  val Budget = 0.15

  /** A share of the rows; estimates of sizes are not exact, and the promise is about what was written. */
  private val Margin = 0.97

  /** What it weighs that all bytes lie over cells, in ratios. */
  private val WeightOfRest = 0.3

  /** Places where a range of cells, or of files over them, is tried to begin; and parts of the budget for cells. */
  private val CellStarts = 24
  private val OverStarts = 12
  private val Parts = Seq(0d, 1d / 3, 2d / 3, 1d)

  /**
   * @param cells in the order of the curve, without common values
   * @param over files over the cells
   * @param newBytes not yet along the curve
   * @param target bytes of a file
   * @param columns that the curve runs over, at least 1
   * @return None when the new bytes alone are beyond the budget
   */
  def choose(
      cells: IndexedSeq[CurvePiece],
      over: IndexedSeq[CurvePiece],
      newBytes: Long,
      target: Long,
      columns: Int
  ): Option[IncrementalChoice] = {
    val total = cells.map(_.bytes).sum + over.map(_.bytes).sum + newBytes
    val cap = (Budget * Margin * total.toDouble).toLong
    if (cells.isEmpty || newBytes > cap) None
    else Some(new Search(cells, over, newBytes, target, columns, total, cap - newBytes).best())
  }

  /** Cells `from` until `until`, and which files over the cells. */
  private final case class Taken(from: Int, until: Int, absorbed: BitSet, bytes: Long)

  private final class Search(
      cells: IndexedSeq[CurvePiece],
      over: IndexedSeq[CurvePiece],
      newBytes: Long,
      target: Long,
      columns: Int,
      total: Long,
      spare: Long
  ) {
    private val n = cells.length
    private val alpha = 1d / columns
    private val sizes = cells.map(_.bytes).toArray
    private val lows = cells.map(_.low).toArray
    private val first = over.map(o => cellOf(o.low)).toArray
    private val end = over.indices.map(i => math.max(cellOf(over(i).high), first(i)) + 1).toArray
    private val weights = over.map(_.bytes).toArray
    private val byFirst = over.indices.sortBy(i => (first(i), i)).toArray
    private val full = math.pow(math.max(1d, total.toDouble / target), 1 - alpha)

    private def cellOf(z: Long): Int = {
      val at = Arrays.binarySearch(lows, z)
      math.max(0, if (at >= 0) at else -at - 2)
    }

    def best(): IncrementalChoice = {
      val candidates = for {
        from <- starts(CellStarts)
        part <- Parts
        range = cellsFrom(from, (spare * part).toLong)
        start <- if (over.isEmpty) Seq(0) else starts(OverStarts)
      } yield withOver(range, start)
      candidates.distinct.map(t => (t, touched(t)))
        .minBy { case (t, files) => (files / full + WeightOfRest * rest(t), t.bytes, t.from, t.until) } match {
        case (t, files) =>
          val absorbed = over.indices.filter(i => t.absorbed.get(i)).toSet
          IncrementalChoice(t.from, t.until, absorbed, newBytes + t.bytes, files / full, files - full)
      }
    }

    private def starts(most: Int): Seq[Int] =
      if (n <= most) 0 until n else (0 until most).map(i => (n.toLong * i / most).toInt)

    /** As many cells as so many bytes allow, with all that lies over them. */
    private def cellsFrom(from: Int, most: Long): Taken = {
      val taken = new BitSet
      var bytes = 0L
      var until = from
      var open = true
      // Those that begin before, then those that begin in each cell.
      var next = byFirst.indexWhere(first(_) > from)
      if (next < 0) next = byFirst.length
      var here = byFirst.take(next).filter(end(_) > from)
      while (open && until < n) {
        val more = bytes + sizes(until) + here.map(weights(_)).sum
        if (more > most) open = false
        else {
          bytes = more
          here.foreach(i => taken.set(i))
          until += 1
          val before = next
          while (next < byFirst.length && first(byFirst(next)) <= until) next += 1
          here = byFirst.slice(before, next)
        }
      }
      Taken(from, until, taken, bytes)
    }

    /** With files over the cells from a cell on, and on from the first cell, as many as the budget allows. */
    private def withOver(range: Taken, start: Int): Taken = {
      val taken = range.absorbed.clone().asInstanceOf[BitSet]
      var bytes = range.bytes
      val at = math.max(0, byFirst.indexWhere(first(_) >= start))
      var open = true
      var i = 0
      while (open && i < byFirst.length) {
        val o = byFirst((at + i) % byFirst.length)
        if (!taken.get(o)) {
          if (bytes + weights(o) > spare) open = false
          else {
            bytes += weights(o)
            taken.set(o)
          }
        }
        i += 1
      }
      range.copy(absorbed = taken, bytes = bytes)
    }

    /** The share of bytes that stay over the cells, new ones aside: these are the same in each case, near enough. */
    private def rest(t: Taken): Double = {
      val inside = over.indices.filter(i => t.absorbed.get(i)).map { i =>
        weights(i).toDouble * common(i, t) / (end(i) - first(i))
      }.sum + newBytes.toDouble * (t.until - t.from) / n
      (weights.sum + newBytes - inside) / total
    }

    private def common(i: Int, t: Taken): Int =
      math.max(0, math.min(t.until, end(i)) - math.max(t.from, first(i)))

    /** The share of lookups that read a file over so many cells. */
    private def read(over: Double): Double = math.pow(math.min(1d, over / n), alpha)

    /** Files that a lookup reads. Rows of new files, and of those over cells, are taken to be spread evenly there. */
    private def touched(t: Taken): Double = {
      val steps = new Array[Double](n + 1)
      steps(0) = newBytes.toDouble / n
      var sum = (n - (t.until - t.from)) * read(1)
      over.indices.foreach { i =>
        if (t.absorbed.get(i)) {
          val each = weights(i).toDouble / (end(i) - first(i))
          steps(first(i)) += each
          steps(end(i)) -= each
        } else sum += read((end(i) - first(i)).toDouble)
      }
      val moved = new Array[Double](n)
      var level = 0d
      (0 until n).foreach { c =>
        level += steps(c)
        moved(c) = level
      }
      (t.from until t.until).foreach { c =>
        val grown = (sizes(c) + moved(c)) / target
        val parts = if (grown > Placement.MostOfTarget) math.round(grown).toDouble else 1d
        sum += parts * read(1 / parts)
      }
      if (t.until == t.from) sum + wide(moved, 0, n) else sum + wide(moved, 0, t.from) + wide(moved, t.until, n)
    }

    /** Of the lookups, those of the files that rows between two cells fill, each with as many bytes. */
    private def wide(moved: Array[Double], from: Int, until: Int): Double = {
      var all = 0d
      (from until until).foreach(c => all += moved(c))
      if (until <= from || all <= 0) 0d
      else {
        val each = all / math.max(1d, math.ceil(all / (Placement.OverTarget * target)))
        var (sum, bytes, begin) = (0d, 0d, from.toDouble)
        (from until until).foreach { c =>
          var left = moved(c)
          while (bytes + left >= each * (1 + 1e-9)) {
            left -= each - bytes
            val to = c + 1 - left / moved(c)
            sum += read(to - begin)
            begin = to
            bytes = 0
          }
          bytes += left
        }
        if (bytes > each * 1e-6) sum + read(until - begin) else sum
      }
    }
  }
}
