package org.sparkzorder.stats

/** Merges the statistics of parts of a file. */
object StatsMerge {

  /** From two disjoint parts. A column that is unknown in either part is unknown. */
  def merge(a: FileStats, b: FileStats): FileStats =
    if (a.rows == 0) b
    else if (b.rows == 0) a
    else {
      val columns = a.columns.flatMap { case (key, x) =>
        b.columns.get(key).map(y => key -> merge(x, a.rows, y, b.rows))
      }
      FileStats(a.rows + b.rows, columns)
    }

  private def merge(x: ColumnStats, xRows: Long, y: ColumnStats, yRows: Long): ColumnStats = {
    val (min, max) =
      if (x.hasBounds && y.hasBounds) (OrderedValue.order.min(x.min, y.min), OrderedValue.order.max(x.max, y.max))
      else if (hasNoValue(x, xRows)) (y.min, y.max)
      else if (hasNoValue(y, yRows)) (x.min, x.max)
      else (null, null)
    ColumnStats(min, max, sum(x.nullCount, y.nullCount), sum(x.nanCount, y.nanCount))
  }

  // Without bounds, nothing is known, or there is no value. Only then the part can be ignored.
  private def hasNoValue(c: ColumnStats, rows: Long): Boolean =
    !c.hasBounds && c.nullCount >= 0 && c.nanCount >= 0 && c.nullCount + c.nanCount == rows

  private def sum(a: Long, b: Long): Long = if (a < 0 || b < 0) -1L else a + b
}
