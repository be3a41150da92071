package org.sparkzorder.skipping.answer

import java.util.BitSet

import org.apache.spark.sql.types.DataType

import org.sparkzorder.predicate.{BytesValue, Column, LongValue, Value}
import org.sparkzorder.stats.{BytesStatsColumn, LongStatsColumn, OrderedValue, StatsColumn, StatsTable}

/** So many rows of a file, at least, that come no later than a value; None if they are null, and null comes first. */
private[answer] final case class TopKCandidate(file: Int, rows: Long, bound: Option[Value])

private[answer] object TopKCandidates {

  /**
   * The files whose rows show that the first rows of a query come no later than some value. It is the last bound of the
   * result. None if there are too few rows.
   *
   * With the bounds in order, the first k rows come no later than the bound of the first file up to which there are k
   * rows: so many rows come no later than it, so a row that comes after it is not among the first k.
   *
   * @param wanted how many rows the query wants
   * @param ascending whether the least value comes first
   */
  def of(wanted: Long, files: Seq[TopKCandidate], ascending: Boolean): Option[Seq[TopKCandidate]] = {
    val byBound = Ordering.Option(if (ascending) Value.ordering else Value.ordering.reverse)
    val sorted = files.filter(_.rows > 0).sortBy(_.bound)(byBound)
    val until = sorted.iterator.scanLeft(0L)(_ + _.rows).indexWhere(_ >= wanted)
    if (until < 0) None else Some(sorted.take(until))
  }

  /**
   * The rows of a file that come no later than its far bound, if all of its rows count.
   *
   * @param nulls rows that are null; negative if unknown
   * @param nans rows that are NaN, which is the greatest value; negative if unknown
   * @param bound the greatest value if the least comes first, else the least; None without bounds
   */
  def of(file: Int, rows: Long, nulls: Long, nans: Long, bound: Option[Value], order: Order): Option[TopKCandidate] =
    if (rows > 0 && nulls == rows) { if (order.nullsFirst) Some(TopKCandidate(file, rows, None)) else None }
    else {
      // Values below the greatest one, or above the least one. NaN is above both.
      val after = (if (order.nullsFirst) Seq.empty else Seq(nulls)) ++ (if (order.ascending) Seq(nans) else Nil)
      if (rows <= 0 || after.exists(_ < 0)) None else bound.map(b => TopKCandidate(file, rows - after.sum, Some(b)))
    }

  final case class Order(ascending: Boolean, nullsFirst: Boolean)
}

/**
 * What is known of those rows of each file that have its least or greatest value in a column. There is one at least
 * where [[value]] tells the value: there the bound is a value of the file, not only a limit.
 */
private[answer] final class RowsAtBound(table: StatsTable, column: Column, isLeast: Boolean) extends StatsTable {
  override def files: Int = table.files
  override def rows: Array[Long] = table.rows

  private val atBound: Option[StatsColumn] =
    table.column(column.path, column.dataType).filter(_ => AggregateValue.hasExactBounds(column.dataType)).map {
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
    case l: LongStatsColumn  => LongValue(l.min(ordinal))
    case b: BytesStatsColumn => new BytesValue(b.min(ordinal))
  }

  override def column(path: Seq[String], dataType: DataType): Option[StatsColumn] =
    if (path == column.path && dataType == column.dataType) atBound else table.column(path, dataType)
}
