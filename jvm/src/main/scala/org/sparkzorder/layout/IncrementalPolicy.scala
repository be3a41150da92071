package org.sparkzorder.layout

/**
 * Chooses what to rewrite when a few new rows come to a table that is laid out along a curve: see "Incremental" in
 * docs/design/layout.md. Each round puts only the new rows of one range of cells into their cells, and writes the
 * others to files over many cells, together with files that are already over the cells, as far as the budget goes.
 *
 * Files per lookup are estimated as if each file were a cube: a file over the share s of the curve is read by s^(1/D)
 * of the lookups on each of D columns. The same holds for a cell.
 */
object IncrementalPolicy {

  /** The share of a full rewrite's bytes that one round may write. */
  val Budget = 0.15

  /**
   * The share of the budget that is planned for: sizes are estimates, and the budget is a promise about bytes written.
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
