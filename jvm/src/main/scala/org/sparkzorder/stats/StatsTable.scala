package org.sparkzorder.stats

import org.apache.spark.sql.types.DataType

import org.sparkzorder.membership.ColumnMembers

/** The statistics of many files, column by column. A file is known by its ordinal, 0 until `files`. */
trait StatsTable {
  def files: Int

  def rows: Array[Long]

  /** Whether every file is known to have rows. */
  def allHaveRows: Boolean = {
    val counts = rows
    var i = 0
    while (i < counts.length && counts(i) > 0L) i += 1
    i == counts.length
  }

  /**
   * The statistics of a column that were collected with exactly this path and type. None when there
   * are none, so that every file is read.
   */
  def column(path: Seq[String], dataType: DataType): Option[StatsColumn]

  /**
   * Which values the files have in a column, under exactly this path and type. They may be used only
   * for files that have bounds in [[column]]: what makes bounds unknown makes the values unknown too.
   */
  def members(path: Seq[String], dataType: DataType): Option[ColumnMembers] = None
}

/**
 * One column of a [[StatsTable]]. The fields have the meaning of those of [[ColumnStats]]; arrays
 * have one entry for each file.
 */
sealed trait StatsColumn {

  /** Whether file i has bounds. If not, its entries of min and max have no meaning. */
  def bounded: java.util.BitSet

  /** The null counts; -1 where unknown. */
  def nullCounts: Array[Long]

  /** The NaN counts; -1 where unknown. Null for a type that has no NaN. */
  def nanCounts: Array[Long]
}

final class LongStatsColumn(
    val min: Array[Long],
    val max: Array[Long],
    val bounded: java.util.BitSet,
    val nullCounts: Array[Long],
    val nanCounts: Array[Long]
) extends StatsColumn {

  /** Whether each file has bounds and neither null nor NaN, as key columns usually do. */
  lazy val isComplete: Boolean =
    bounded.cardinality == min.length && isZero(nullCounts) && (nanCounts == null || isZero(nanCounts))

  private def isZero(counts: Array[Long]): Boolean = {
    var i = 0
    while (i < counts.length && counts(i) == 0L) i += 1
    i == counts.length
  }
}

final class BytesStatsColumn(
    val min: ByteStrings,
    val max: ByteStrings,
    val bounded: java.util.BitSet,
    val nullCounts: Array[Long]
) extends StatsColumn {
  def nanCounts: Array[Long] = null
}
