package org.sparkzorder.stats

import org.apache.spark.sql.types.DataType

/** Statistics of many files, column by column; a file is its ordinal, 0 until `files`. */
trait StatsTable {
  def files: Int

  /** Rows of each file, one entry a file. */
  def rows: Array[Long]

  /** Whether it is known of each file that it has rows. */
  def allHaveRows: Boolean = {
    val counts = rows
    var i = 0
    while (i < counts.length && counts(i) > 0L) i += 1
    i == counts.length
  }

  /** The statistics of a column, made under exactly this path and type; None when there are none: then every file is read. */
  def column(path: Seq[String], dataType: DataType): Option[StatsColumn]
}

/** One column of a [[StatsTable]]; the fields mean what those of [[ColumnStats]] mean, arrays have one entry a file. */
sealed trait StatsColumn {

  /** Whether file i has bounds. Where it has not, the entries of min and max mean nothing. */
  def bounded: java.util.BitSet

  /** Null counts, -1 unknown. */
  def nullCounts: Array[Long]

  /** NaN counts, -1 unknown; null for a type that has no NaN. */
  def nanCounts: Array[Long]
}

final class LongStatsColumn(
    val min: Array[Long],
    val max: Array[Long],
    val bounded: java.util.BitSet,
    val nullCounts: Array[Long],
    val nanCounts: Array[Long]
) extends StatsColumn {

  /** Whether each file has bounds and neither null nor NaN, as those of keys are: then bounds alone tell. */
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
