package org.sparkzorder.skipping.answer

import java.util.BitSet

import org.apache.spark.sql.types.DataType

import org.sparkzorder.predicate.{Column, Value}
import org.sparkzorder.stats.{BytesStatsColumn, LongStatsColumn, OrderedValue, StatsColumn, StatsTable}

/**
 * What is known of those rows of each file that have its least or greatest value in a column. There is one at least
 * where [[value]] tells the value: there the bound is a value of the file, not only a limit.
 *
 * @param isLeast whether the rows have the least value, else the greatest one
 */
private[answer] final class RowsAtBound(table: StatsTable, column: Column, isLeast: Boolean) extends StatsTable {
  override def files: Int = table.files
  override def rows: Array[Long] = table.rows

  private val atBound: Option[StatsColumn] =
    table.column(column.path, column.dataType).filter(_ => Slot.hasExactBounds(column.dataType)).map {
      case l: LongStatsColumn =>
        val (bound, nans) = (if (isLeast) l.min else l.max, if (l.nanCounts == null) null else new Array[Long](files))
        new LongStatsColumn(bound, bound, exact(l), new Array[Long](files), nans)
      case b: BytesStatsColumn =>
        val bound = if (isLeast) b.min else b.max
        new BytesStatsColumn(bound, bound, exact(b), new Array[Long](files))
    }

  /** The files that have rows and exact bounds. Beside NaN a bound of floating point may not be a value. */
  private def exact(c: StatsColumn): BitSet = {
    val known = c.bounded.clone().asInstanceOf[BitSet]
    val hasNaN = OrderedValue.hasNaN(column.dataType)
    (0 until files).foreach { i =>
      if (rows(i) <= 0 || hasNaN && (c.nanCounts == null || c.nanCounts(i) != 0)) known.clear(i)
    }
    known
  }

  /** The value of these rows; None where it is not known that there are any. */
  def value(ordinal: Int): Option[Value] = atBound.filter(_.bounded.get(ordinal)).map {
    case l: LongStatsColumn  => Witnesses.value(l.min(ordinal))
    case b: BytesStatsColumn => Witnesses.value(b.min(ordinal))
  }

  override def column(path: Seq[String], dataType: DataType): Option[StatsColumn] =
    if (path == column.path && dataType == column.dataType) atBound else table.column(path, dataType)
}
