package org.sparkzorder.workload

import org.sparkzorder.layout.FileBounds
import org.sparkzorder.predicate.Column
import org.sparkzorder.stats._

/**
 * The axes of a table's columns, by its statistics.
 *
 * A column has one when the statistics hold bounds of it for every file in which it is not null throughout: what a file
 * hides, by encryption, is not told by a rank either, and a column that is kept out of the statistics has none.
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
