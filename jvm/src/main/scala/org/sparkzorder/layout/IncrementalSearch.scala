package org.sparkzorder.layout

import java.util.{Arrays, BitSet}

/**
 * Tries ways to divide a budget between cells and files over them, and estimates the files per lookup after each.
 * [[IncrementalPolicy]] describes the parameters. Cells and files over them are known by their index.
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

  private val overCells = new FilesOver(over, cells.map(_.low).toArray)
  import overCells._

  /** Files per lookup after a full rewrite. */
  private val full = math.pow(math.max(1d, total.toDouble / target), 1 - alpha)

  private def none = RewriteCandidate(from = 0, until = 0, absorbed = new BitSet, bytes = 0, free = 0)

  def nothing: IncrementalChoice = choice(estimated(none))

  /** @param spare bytes that may be written beside the new ones */
  def best(spare: Long): IncrementalChoice =
    choice((none +: candidates(spare)).distinct.map(estimated).minBy(e => (cost(e), e.of.bytes, e.of.from, e.of.until)))

  private def estimated(candidate: RewriteCandidate) = Estimated(candidate, touched(candidate))

  private def cost(e: Estimated): Double =
    e.filesPerLookup / full + WeightOfRest * rest(e.of) + WeightOfBytes * e.of.bytes / total

  private def choice(e: Estimated): IncrementalChoice = {
    val files = e.filesPerLookup + beside.files
    IncrementalChoice(
      from = e.of.from,
      until = e.of.until,
      absorbed = indices.filter(e.of.absorbed.get(_)).toSet,
      bytes = newBytes + e.of.bytes,
      ratio = files / full,
      more = files - full
    )
  }

  private def candidates(spare: Long): Seq[RewriteCandidate] = for {
    range <- none +: ranges(spare)
    candidate <- withSmallFiles(range, spare) +: starts(OverStarts).map(withFilesFrom(range, _, spare))
    if isPaid(candidate)
  } yield candidate

  private def ranges(spare: Long): Seq[RewriteCandidate] = {
    val budgets = budgetsOf(spare)
    for (from <- (starts(CellStarts) ++ ends).distinct; budget <- budgets) yield cellsFrom(from, budget)
  }

  /** Shares of all that may be written, and of what the new bytes pay for if that is much less. */
  private def budgetsOf(spare: Long): Seq[Long] = {
    val paid = math.min(spare, PerNew * newBytes)
    val most = if (2 * paid < spare) Seq(paid, spare) else Seq(spare)
    (for (bytes <- most; share <- Shares) yield (bytes * share).toLong).distinct
  }

  private def isPaid(t: RewriteCandidate): Boolean = t.bytes - t.free <= allowed(t)

  private def allowed(t: RewriteCandidate): Double = PerNew.toDouble * newBytes + PerDrained * drained(t)

  /** With the smallest files over the cells: each at most twice as large as all that it is merged with. */
  private def withSmallFiles(range: RewriteCandidate, spare: Long): RewriteCandidate = {
    val absorbed = range.absorbed.clone().asInstanceOf[BitSet]
    var bytes = range.bytes
    var free = 0L
    byWeight.iterator.filterNot(absorbed.get)
      .takeWhile(o => weights(o) <= 2 * (newBytes + free) && bytes + weights(o) <= spare).foreach { o =>
        absorbed.set(o)
        bytes += weights(o)
        free += weights(o)
      }
    range.copy(absorbed = absorbed, bytes = bytes, free = free)
  }

  /** Cells to begin at. With many cells they are others each time, so that every cell gets its turn. */
  private def starts(most: Int): Seq[Int] =
    if (n <= most) 0 until n
    else 0 +: (0 until most).map(i => ((n.toLong * i + total % n) / most).toInt).filter(_ > 0)

  /**
   * Cells behind the end of a file over the cells: there are fewer, or more, files over them than over the cell before.
   */
  private def ends: Seq[Int] = {
    val all = end.filter(_ < n).distinct.sorted.toIndexedSeq
    if (all.length <= CellStarts) all
    else (0 until CellStarts).map(i => all((all.length.toLong * i / CellStarts).toInt))
  }

  /** As many cells from `from` on as `most` bytes allow, with all files over them. */
  private def cellsFrom(from: Int, most: Long): RewriteCandidate = {
    val absorbed = new BitSet
    var bytes = 0L
    var until = from
    var fits = true
    while (fits && until < n) {
      // Files over this cell that no cell before it has absorbed.
      val files = if (until == from) filesOver(from) else beginningAt(until)
      val withCell = bytes + sizes(until) + bytesOf(files)
      fits = withCell <= most
      if (fits) {
        files.foreach(absorbed.set(_))
        bytes = withCell
        until += 1
      }
    }
    RewriteCandidate(from, until, absorbed, bytes, free = 0)
  }

  /**
   * With as many files over the cells as can be paid for: those that begin at a cell or later, then from the first on.
   */
  private def withFilesFrom(range: RewriteCandidate, start: Int, spare: Long): RewriteCandidate = {
    val absorbed = range.absorbed.clone().asInstanceOf[BitSet]
    val most = math.min(spare.toDouble, allowed(range))
    var bytes = range.bytes
    val at = math.max(0, byFirst.indexWhere(first(_) >= start))
    var open = true
    var i = 0
    while (open && i < byFirst.length) {
      val o = byFirst((at + i) % byFirst.length)
      if (!absorbed.get(o)) {
        if (bytes + weights(o) > most) open = false
        else {
          bytes += weights(o)
          absorbed.set(o)
        }
      }
      i += 1
    }
    range.copy(absorbed = absorbed, bytes = bytes)
  }

  /** Bytes that come into the cells: new ones, and those of absorbed files. Both are taken to be spread evenly. */
  private def drained(t: RewriteCandidate): Double = indices.filter(i => t.absorbed.get(i)).map { i =>
    weights(i).toDouble * common(i, t) / (end(i) - first(i))
  }.sum + newBytes.toDouble * (t.until - t.from) / n

  /** The share of all bytes that stay over the cells. */
  private def rest(t: RewriteCandidate): Double = (weights.sum + newBytes - drained(t)) / total

  /** How many of the rewritten cells a file lies over. */
  private def common(i: Int, t: RewriteCandidate): Int =
    math.max(0, math.min(t.until, end(i)) - math.max(t.from, first(i)))

  /** The share of lookups that read a file over so many cells. */
  private def read(over: Double): Double = math.pow(math.min(1d, over / n), alpha)

  /** Files per lookup. Rows of new files and of absorbed ones are taken to be spread evenly over their cells. */
  private def touched(t: RewriteCandidate): Double = {
    val moved = movedInto(t)
    // With one column many candidates differ by rounding only, so the order of the additions matters.
    var sum = (n - (t.until - t.from)) * read(1)
    indices.foreach(i => if (!t.absorbed.get(i)) sum += read((end(i) - first(i)).toDouble))
    (t.from until t.until).foreach(c => sum += readOfRewritten(sizes(c) + moved(c)))
    if (t.until == t.from) sum + newFilesOver(moved, 0, n)
    else sum + newFilesOver(moved, 0, t.from) + newFilesOver(moved, t.until, n)
  }

  /** Of the files per lookup, those of a rewritten cell. A cell that has grown too large is cut. */
  private def readOfRewritten(bytes: Double): Double = {
    val grown = bytes / target
    val parts = if (grown > Placement.MostOfTarget) math.round(grown).toDouble else 1d
    parts * read(1 / parts)
  }

  /** The bytes of new rows and of absorbed files that belong to each cell. */
  private def movedInto(t: RewriteCandidate): Array[Double] = {
    val steps = new Array[Double](n + 1)
    steps(0) = newBytes.toDouble / n
    indices.foreach { i =>
      if (t.absorbed.get(i)) {
        val each = weights(i).toDouble / (end(i) - first(i))
        steps(first(i)) += each
        steps(end(i)) -= each
      }
    }
    val moved = new Array[Double](n)
    var level = 0d
    (0 until n).foreach { c =>
      level += steps(c)
      moved(c) = level
    }
    moved
  }

  /**
   * Of the files per lookup, those that are written over the cells `from` until `until`. They are
   * equally large, so the cells that one of them lies over depend on the bytes there.
   */
  private def newFilesOver(moved: Array[Double], from: Int, until: Int): Double = {
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

private[layout] object IncrementalSearch {

  /** Each new byte pays for so many others: with 5 % of new bytes, all of the budget is paid for. */
  val PerNew = 2

  /** Each byte that moves from over a cell into it pays for so many. */
  val PerDrained = 8

  /**
   * The cells `from` until `until`, and files over the cells.
   *
   * @param absorbed the files over the cells
   * @param bytes of all these cells and files
   * @param free those of the bytes that need not be paid for
   */
  private final case class RewriteCandidate(from: Int, until: Int, absorbed: BitSet, bytes: Long, free: Long)

  private final case class Estimated(of: RewriteCandidate, filesPerLookup: Double)

  /** The cost of having all bytes over the cells; a ratio of 1 in files per lookup costs 1. */
  private val WeightOfRest = 0.3

  /** The cost of writing all bytes: so small that it only decides against rewriting what is of no use. */
  private val WeightOfBytes = 0.03

  /** Places where a range of cells, or of files over them, may begin, and parts of the budget for cells. */
  private val CellStarts = 24
  private val OverStarts = 12
  private val Shares = Seq(1d / 3, 2d / 3, 1d)
}

/**
 * Files over the cells.
 *
 * @param lows where each cell begins on the curve
 */
private final class FilesOver(over: IndexedSeq[CurvePiece], lows: Array[Long]) {

  def indices: Range = over.indices

  /** A file lies over the cells from `first` until `end`. */
  val first: Array[Int] = over.map(o => cellOf(o.low)).toArray
  val end: Array[Int] = indices.map(i => math.max(cellOf(over(i).high), first(i)) + 1).toArray

  val weights: Array[Long] = over.map(_.bytes).toArray
  val byWeight: IndexedSeq[Int] = indices.sortBy(i => (weights(i), i))
  val byFirst: Array[Int] = indices.sortBy(i => (first(i), i)).toArray

  /** The files that begin over each cell. */
  val beginningAt: Array[Array[Int]] = {
    val files = Array.fill(math.max(1, lows.length))(Array.emptyIntArray)
    indices.groupBy(first(_)).foreach { case (cell, of) => files(cell) = of.toArray }
    files
  }

  private def cellOf(z: Long): Int = {
    val at = Arrays.binarySearch(lows, z)
    math.max(0, if (at >= 0) at else -at - 2)
  }

  def filesOver(cell: Int): Array[Int] = byFirst.takeWhile(first(_) <= cell).filter(end(_) > cell)

  def bytesOf(files: Array[Int]): Long = {
    var sum = 0L
    files.foreach(i => sum += weights(i))
    sum
  }
}
