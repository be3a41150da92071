package org.sparkzorder.layout

/** A file, or files that share values of the curve: what is between two values of it, both included. */
final case class CurvePiece(low: Long, high: Long, bytes: Long)

/**
 * What there is beside the cells, and the files over them.
 *
 * @param bytes of it
 * @param files of it that a lookup reads
 * @param written bytes of it that are written by the same statement
 */
final case class BesideCells(bytes: Long, files: Double, written: Long)

object BesideCells {
  val nothing: BesideCells = BesideCells(0, 0, 0)
}

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
final case class IncrementalChoice(
    from: Int,
    until: Int,
    absorbed: Set[Int],
    bytes: Long,
    ratio: Double,
    more: Double
) {

  /** Whether all is better rewritten: for many files per lookup, unless it is about a few. */
  def isPoor: Boolean = ratio > IncrementalPolicy.WorstRatio && more > IncrementalPolicy.FewFiles
}

/**
 * Chooses what to rewrite when a few new rows come to a table along a curve: new rows of all places would touch every
 * cell. So each round takes new rows into a range of cells only, and writes the others to files over many cells,
 * together with what lies there already along another part of the curve, as far as the budget goes; later rounds come
 * to other cells.
 *
 * A file over the s-th part of the curve is read by s^(1/D) of the lookups on each of D columns, as if it were a cube;
 * a cell is one too. Of many ways to divide the budget between cells and files over them, the one with the fewest files
 * per lookup is taken, where bytes that stay over the cells count a little, as they are still to be dealt with.
 *
 * The budget is 15 % of the bytes, and what is written has to be paid for, so that small additions cost little, however
 * many there are: each new byte pays for [[PerNew]] others, each byte that comes from over a cell into it for
 * [[PerDrained]]; and a file over the cells goes free into one that is at least half as large again. A byte is new once,
 * comes into its cell once, and the file it is in grows like that a few times.
 */
object IncrementalPolicy {

  /** Of a full rewrite, what may be written. */
  val Budget = 0.15

  /** A share of the rows; estimates of sizes are not exact, and the promise is about what was written. */
  private[layout] val Margin = 0.97

  private[layout] val WorstRatio = 1.5

  /** So many more files than after a full rewrite are no reason for one. */
  val FewFiles = 3

  /** With each new byte, so many others may be written: 5 % of new bytes have all of the budget. */
  private[layout] val PerNew = 2

  /** For each byte that comes from over a cell into it, so many may be written. */
  private[layout] val PerDrained = 8

  /**
   * @param cells in the order of the curve: each begins behind the first value of the one before
   * @param over files over the cells
   * @param newBytes that come to the cells
   * @param target bytes of a file
   * @param columns that the curve runs over, at least 1
   * @param beside other files of the same folder
   * @return None when the new bytes alone are beyond the budget
   */
  def choose(
      cells: IndexedSeq[CurvePiece],
      over: IndexedSeq[CurvePiece],
      newBytes: Long,
      target: Long,
      columns: Int,
      beside: BesideCells = BesideCells.nothing
  ): Option[IncrementalChoice] = {
    val search = new IncrementalSearch(cells, over, newBytes, target, columns, beside)
    val cap = (Budget * Margin * search.total.toDouble).toLong
    if (cells.isEmpty || newBytes > cap) None
    else Some(search.best(math.max(0L, cap - newBytes - beside.written)))
  }

  /** Without a new row and with nothing rewritten, as things are. */
  def unchanged(
      cells: IndexedSeq[CurvePiece],
      over: IndexedSeq[CurvePiece],
      target: Long,
      columns: Int,
      beside: BesideCells
  ): IncrementalChoice = new IncrementalSearch(cells, over, 0, target, columns, beside).nothing
}
