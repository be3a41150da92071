package org.sparkzorder.stats

import java.lang.{Long => JLong}

/** Statistics of the union of rows from the statistics of its parts. */
object StatsMerge {

  /**
   * Statistics of a file from those of two disjoint parts of it. A column that either part does not know is unknown.
   */
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
      if (x.hasBounds && y.hasBounds) {
        (if (compare(x.min, y.min) <= 0) x.min else y.min, if (compare(x.max, y.max) >= 0) x.max else y.max)
      } else if (hasNoValue(x, xRows)) (y.min, y.max)
      else if (hasNoValue(y, yRows)) (x.min, x.max)
      else (null, null)
    ColumnStats(min, max, sum(x.nullCount, y.nullCount), sum(x.nanCount, y.nanCount))
  }

  // Bounds are missing either since nothing is known, or since there is nothing to bound: only the latter can be left
  // out.
  private def hasNoValue(c: ColumnStats, rows: Long): Boolean =
    !c.hasBounds && c.nullCount >= 0 && c.nanCount >= 0 && c.nullCount + c.nanCount == rows

  private def sum(a: Long, b: Long): Long = if (a < 0 || b < 0) -1L else a + b

  private def compare(a: Any, b: Any): Int = (a, b) match {
    case (x: JLong, y: JLong)             => x.compareTo(y)
    case (x: Array[Byte], y: Array[Byte]) => OrderedValue.compare(x, y)
    case _                                => throw new IllegalArgumentException("bounds of two encodings in one column")
  }
}
