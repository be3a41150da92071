package org.sparkzorder.workload

import org.sparkzorder.layout.FileBounds
import org.sparkzorder.predicate.Column
import org.sparkzorder.stats._

/**
 * The axes of a table's columns, made of the table's statistics.
 *
 * A column has an axis only if the statistics have its bounds in every file that has a value of it.
 * So if a file hides its values by encryption, or the column is kept out of the statistics, ranks
 * do not reveal them either.
 */
object ColumnAxes {

  def of(statistics: StatsTable, column: Column): Option[RankAxis] =
    statistics.column(column.path, column.dataType).flatMap { c =>
      val files = (0 until statistics.files).map(i => bounds(c, i, statistics.rows(i)))
      if (files.exists { case (b, rows) => b == FileBounds.Unknown && rows > 0 }) None
      else RankAxis.of(files, OrderedValue.hasNaN(column.dataType))
    }

  private def bounds(c: StatsColumn, i: Int, rows: Long): (FileBounds, Long) = {
    val nulls = c.nullCounts(i)
    val of =
      if (!c.bounded.get(i)) {
        val nan = if (c.nanCounts == null) 0L else math.max(c.nanCounts(i), 0L)
        if (math.max(nulls, 0L) + nan >= rows) FileBounds.AllNull else FileBounds.Unknown
      } else
        c match {
          case l: LongStatsColumn  => FileBounds.Longs(l.min(i), l.max(i))
          case b: BytesStatsColumn => FileBounds.Bytes(b.min(i), b.max(i))
        }
    of -> (rows - math.max(nulls, 0L))
  }
}
