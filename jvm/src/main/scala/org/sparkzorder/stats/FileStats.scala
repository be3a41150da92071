package org.sparkzorder.stats

import org.apache.spark.sql.types.DataType

/**
 * A file as the file system knows it. Two files are the same file only if all three agree.
 *
 * @param path relative to the table's root with '/' between its parts where the file lies below it, else an absolute URI
 * @param length bytes
 * @param modificationTime milliseconds since 1970, as the file system gives it
 */
final case class FileId(path: String, length: Long, modificationTime: Long)

/** How bounds of a column are held: as signed longs, or as byte strings compared as unsigned bytes. */
sealed trait Encoding
object Encoding {
  case object Longs extends Encoding
  case object Bytes extends Encoding
}

/**
 * A column, or a field of a struct at any depth, with the type that its statistics were made under.
 * The path's parts are names, never split at dots.
 */
final case class ColumnKey(path: Seq[String], dataType: DataType)

/**
 * What is known of one column in one file. Bounds are bounds: `min <= v <= max` for every value v that is neither null nor NaN.
 * A bound is a `java.lang.Long` or an `Array[Byte]` by the column's [[Encoding]], in the encoding of [[OrderedValue]].
 *
 * @param min lower bound, null when unknown or when there is no value but nulls and NaN
 * @param max upper bound, null likewise. The two are both null or both not.
 * @param nullCount rows in which the column is null (for a struct field: it or a struct above it); -1 when unknown
 * @param nanCount for float and double: NaNs; -1 when unknown; 0 for other types
 */
final case class ColumnStats(min: Any, max: Any, nullCount: Long, nanCount: Long) {
  def hasBounds: Boolean = min != null
}

object ColumnStats {

  /** Nothing is known: the file is read. */
  val unknown: ColumnStats = ColumnStats(null, null, -1L, -1L)
}

/** What is known of one file: its rows and its columns. A column that is not in the map is unknown. */
final case class FileStats(rows: Long, columns: Map[ColumnKey, ColumnStats])
