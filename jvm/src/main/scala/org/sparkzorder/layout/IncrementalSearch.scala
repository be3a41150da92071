package org.sparkzorder.layout

import java.util.{Arrays, BitSet}

/**
 * The ways to divide a budget between cells and files over them, and what each leaves; see [[IncrementalPolicy]], where the
 * parameters are.
 */
private[layout] final class IncrementalSearch(
    cells: IndexedSeq[CurvePiece],
    over: IndexedSeq[CurvePiece],
    newBytes: Long,
    target: Long,
    columns: Int,
    beside: BesideCells
) {
  import IncrementalSearch._

  val total: Long = cells.map(_.bytes).sum + over.map(_.bytes).sum + newBytes + beside.bytes

  private val n = cells.length
  private val alpha = 1d / columns
  private val sizes = cells.map(_.bytes).toArray
  private val lows = cells.map(_.low).toArray
  private val first = over.map(o => cellOf(o.low)).toArray
  private val end = over.indices.map(i => math.max(cellOf(over(i).high), first(i)) + 1).toArray
  private val weights = over.map(_.bytes).toArray
  private val byWeight = over.indices.sortBy(i => (weights(i), i))
  private val byFirst = over.indices.sortBy(i => (first(i), i)).toArray
  private val full = math.pow(math.max(1d, total.toDouble / target), 1 - alpha)

  private def cellOf(z: Long): Int = {
    val at = Arrays.binarySearch(lows, z)
    math.max(0, if (at >= 0) at else -at - 2)
  }

  private def none = RewriteCandidate(0, 0, new BitSet, 0, 0)

  def nothing: IncrementalChoice = choice(none, touched(none))

  /** @param spare bytes that may be written beside the new ones */
  def best(spare: Long): IncrementalChoice = {
    val paid = math.min(spare, IncrementalPolicy.PerNew * newBytes)
    val most = if (2 * paid < spare) Seq(paid, spare) else Seq(spare)
    val budgets = for (bytes <- most; share <- Shares) yield (bytes * share).toLong
    val candidates = for {
      range <- none +: (starts(CellStarts) ++ ends).distinct.flatMap(from => budgets.distinct.map(cellsFrom(from, _)))
      taken <- merged(range, spare) +: starts(OverStarts).map(withOver(range, _, spare))
      if isPaid(taken)
    } yield taken
    val (taken, files) = (none +: candidates).distinct.map(t => (t, touched(t))).minBy { case (t, files) =>
      (files / full + WeightOfRest * rest(t) + WeightOfBytes * t.bytes / total, t.bytes, t.from, t.until)
    }
    choice(taken, files)
  }

  private def choice(taken: RewriteCandidate, files: Double): IncrementalChoice = {
    val absorbed = over.indices.filter(i => taken.absorbed.get(i)).toSet
    val all = files + beside.files
    IncrementalChoice(taken.from, taken.until, absorbed, newBytes + taken.bytes, all / full, all - full)
  }

  private def isPaid(t: RewriteCandidate): Boolean = t.bytes - t.free <= allowed(t)

  private def allowed(t: RewriteCandidate): Double =
    IncrementalPolicy.PerNew.toDouble * newBytes + IncrementalPolicy.PerDrained * drained(t)

  /** With files over the cells of which each is at most twice as large as all that it is merged with: small ones first. */
  private def merged(range: RewriteCandidate, spare: Long): RewriteCandidate = {
    val taken = range.absorbed.clone().asInstanceOf[BitSet]
    var bytes = range.bytes
    var free = 0L
    byWeight.iterator.filterNot(taken.get)
      .takeWhile(o => weights(o) <= 2 * (newBytes + free) && bytes + weights(o) <= spare).foreach { o =>
        taken.set(o)
        bytes += weights(o)
        free += weights(o)
      }
    range.copy(absorbed = taken, bytes = bytes, free = free)
  }

  /** Some cells: not the same every time, so that none is passed over for ever. */
  private def starts(most: Int): Seq[Int] =
    if (n <= most) 0 until n
    else 0 +: (0 until most).map(i => ((n.toLong * i + total % n) / most).toInt).filter(_ > 0)

  /** Behind some of the files over the cells: where cells begin over which there is less, or more. */
  private def ends: Seq[Int] = {
    val all = end.filter(_ < n).distinct.sorted.toIndexedSeq
    if (all.length <= CellStarts) all
    else (0 until CellStarts).map(i => all((all.length.toLong * i / CellStarts).toInt))
  }

  /** As many cells as so many bytes allow, with all that lies over them. */
  private def cellsFrom(from: Int, most: Long): RewriteCandidate = {
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
    RewriteCandidate(from, until, taken, bytes, 0)
  }

  /** With files over the cells from a cell on, and on from the first cell, as many as can be paid for. */
  private def withOver(range: RewriteCandidate, start: Int, spare: Long): RewriteCandidate = {
    val taken = range.absorbed.clone().asInstanceOf[BitSet]
    val most = math.min(spare.toDouble, allowed(range))
    var bytes = range.bytes
    val at = math.max(0, byFirst.indexWhere(first(_) >= start))
    var open = true
    var i = 0
    while (open && i < byFirst.length) {
      val o = byFirst((at + i) % byFirst.length)
      if (!taken.get(o)) {
        if (bytes + weights(o) > most) open = false
        else {
          bytes += weights(o)
          taken.set(o)
        }
      }
      i += 1
    }
    range.copy(absorbed = taken, bytes = bytes)
  }

  /** Bytes that come into the cells, new ones and those that lie over them: taken to be spread evenly there. */
  private def drained(t: RewriteCandidate): Double = over.indices.filter(i => t.absorbed.get(i)).map { i =>
    weights(i).toDouble * common(i, t) / (end(i) - first(i))
  }.sum + newBytes.toDouble * (t.until - t.from) / n

  /** The share of bytes that stay over the cells. */
  private def rest(t: RewriteCandidate): Double = (weights.sum + newBytes - drained(t)) / total

  private def common(i: Int, t: RewriteCandidate): Int =
    math.max(0, math.min(t.until, end(i)) - math.max(t.from, first(i)))

  /** The share of lookups that read a file over so many cells. */
  private def read(over: Double): Double = math.pow(math.min(1d, over / n), alpha)

  /** Files that a lookup reads. Rows of new files, and of those over cells, are taken to be spread evenly there. */
  private def touched(t: RewriteCandidate): Double = {
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

private object IncrementalSearch {

  /** Cells `from` until `until`, and which files over the cells; `free` are the bytes that are written for nothing. */
  private final case class RewriteCandidate(from: Int, until: Int, absorbed: BitSet, bytes: Long, free: Long)

  /** What it weighs that all bytes lie over cells, in ratios. */
  private val WeightOfRest = 0.3

  /** What it weighs that all bytes are written: so little that it speaks only against what is of no use. */
  private val WeightOfBytes = 0.03

  /** Places where a range of cells, or of files over them, is tried to begin; and parts of the budget for cells. */
  private val CellStarts = 24
  private val OverStarts = 12
  private val Shares = Seq(1d / 3, 2d / 3, 1d)
}
