package org.sparkzorder.table

import java.io.IOException

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable

/**
 * What a name stands for. Only the catalog and the folder's markers are looked at, which is cheap
 * enough for the parser.
 */
sealed trait TargetKind
object TargetKind {
  final case class Table(metadata: CatalogTable) extends TargetKind

  /**
   * @param meantForOthers the statement names no format, and the folder has the log of a table
   *   format
   */
  final case class Folder(path: Path, meantForOthers: Boolean) extends TargetKind

  /** A folder that the file system cannot show us. */
  final case class Unreadable(path: String, cause: IOException) extends TargetKind

  /**
   * @param kind how messages name it, as in 'a view'
   * @param ofSpark whether it is a view, or files of one of Spark's own formats, so that it belongs
   *   to no other extension
   */
  final case class Foreign(kind: String, ofSpark: Boolean = false) extends TargetKind
  case object Missing extends TargetKind
}
