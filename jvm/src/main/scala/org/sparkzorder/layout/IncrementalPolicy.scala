package org.sparkzorder.layout

/**
 * Chooses what to rewrite when a few new rows come to a table that is laid out along a curve.
 *
 * New rows from all over the table would touch every cell. So each round puts only the new rows of
 * one range of cells into their cells. It writes the others to files over many cells, together with
 * files that are already over the cells along another part of the curve, as far as the budget goes.
 * Later rounds take other cells.
 *
 * Files per lookup are estimated as if each file were a cube: a file over the share s of the curve
 * is read by s^(1/D) of the lookups on each of D columns. The same holds for a cell.
 * [[IncrementalSearch]] tries many ways to divide the budget between cells and files over them, and
 * takes the one with the fewest files per lookup. Bytes that stay over the cells count a little, as
 * a later round has to move them.
 *
 * The budget is 15 % of the bytes. What is rewritten also has to be paid for, so that small
 * additions cost little, however many there are. Each new byte pays for
 * [[IncrementalSearch.PerNew]] others, and each byte that moves from over a cell into it pays for
 * [[IncrementalSearch.PerDrained]]. A file over the cells is rewritten for nothing if the new file
 * is at least half as large again. A byte is new once, comes into its cell once, and the file it is
 * in grows like that a few times.
 */
object IncrementalPolicy {

  /** The share of a full rewrite's bytes that one round may write. */
  val Budget = 0.15

  /**
   * The share of the budget that is planned for: sizes are estimates, and the budget is a promise
   * about bytes written.
   */
  private val Margin = 0.97

  val FewFiles: Int = IncrementalChoice.FewFiles

  /**
   * @param cells in the order of the curve: each begins behind the first value of the one before
   * @param over files over the cells
   * @param newBytes that come to the cells
   * @param target bytes of a file
   * @param columns that the curve runs over, at least 1
   * @param beside other files of the same folder
   * @return None when the new bytes alone exceed the budget
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

  /** How a lookup fares with the files as they are: no new rows, nothing rewritten. */
  def unchanged(
      cells: IndexedSeq[CurvePiece],
      over: IndexedSeq[CurvePiece],
      target: Long,
      columns: Int,
      beside: BesideCells
  ): IncrementalChoice = new IncrementalSearch(cells, over, newBytes = 0, target, columns, beside).nothing
}
