package org.sparkzorder.stats

import org.apache.spark.sql.types.DataType

import org.sparkzorder.membership.{MembershipFormat, MembershipKind}

/**
 * A file as the file system knows it, with its path relative to the table's root (with '/' between its parts) if it is
 * below, else as an absolute URI; its bytes; and milliseconds since 1970. Two files are the same file only if all three
 * agree.
 */
final case class FileId(path: String, length: Long, modificationTime: Long)

/** How the bounds of a column are encoded: as signed longs, or as byte strings compared as unsigned bytes. */
sealed trait Encoding
object Encoding {
  case object Longs extends Encoding
  case object Bytes extends Encoding
}

/**
 * A column, or a field of a struct at any depth, with the type that its statistics were collected
 * with. The path's parts are names, which may contain dots.
 */
final case class ColumnKey(path: Seq[String], dataType: DataType)

/**
 * What is known of one column in one file. Bounds hold for all values: `min <= v <= max` for every
 * value v that is neither null nor NaN. A bound is a `java.lang.Long` or an `Array[Byte]` by the
 * column's [[Encoding]], encoded by [[OrderedValue]].
 *
 * @param min lower bound; null when unknown, or when all values are null or NaN
 * @param max upper bound; null exactly when `min` is
 * @param nullCount rows in which the column is null (for a struct field: it or a struct above it); -1 when unknown
 * @param nanCount NaNs of a float or double column; -1 when unknown; 0 for other types
 */
final case class ColumnStats(min: Any, max: Any, nullCount: Long, nanCount: Long) {
  def hasBounds: Boolean = min != null
}

object ColumnStats {

  /** Nothing is known, so the file is always read. */
  val unknown: ColumnStats = ColumnStats(null, null, -1L, -1L)

  /** Of a column without NaN, with byte bounds cut to the usual length. */
  def of(min: Any, max: Any, nullCount: Long): ColumnStats = (min, max) match {
    case (lo: Array[Byte], hi: Array[Byte]) =>
      val upper = ByteBounds.upper(hi)
      if (upper == null) ColumnStats(null, null, nullCount, 0L)
      else ColumnStats(ByteBounds.lower(lo), upper, nullCount, 0L)
    case _ => ColumnStats(min, max, nullCount, 0L)
  }
}

/** What is known of one file. A column that is not in the map is unknown. `members` are in [[MembershipFormat]]. */
final case class FileStats(
    rows: Long,
    columns: Map[ColumnKey, ColumnStats],
    members: Map[ColumnKey, Array[Byte]] = Map.empty
)

/**
 * The columns to collect statistics of, and those whose values are kept, of at most so many bytes for each in a file.
 */
final case class IndexedColumns(
    keys: Seq[ColumnKey],
    members: Map[ColumnKey, MembershipKind] = Map.empty,
    mostBytes: Int = MembershipFormat.MostBytes
)
