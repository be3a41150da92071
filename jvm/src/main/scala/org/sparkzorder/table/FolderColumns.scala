package org.sparkzorder.table

/** What a statement wants to know of the columns of a folder that it names by its path. */
sealed trait FolderColumns
object FolderColumns {

  /** Nothing. This spares the job by which Spark reads them from a file. */
  case object Nothing extends FolderColumns

  /** As [[OfQueries]], and nothing if there are no files any more: RESTORE may bring all of them back. */
  case object OfRestore extends FolderColumns

  /** As a query of this session sees them: its settings say whether files are merged, and what old types become. */
  case object OfQueries extends FolderColumns

  /**
   * With the types that the files have, whatever the session's settings make of them: a rewrite must
   * give them back.
   *
   * @param merged take the union of all files' columns, whatever the session's settings say
   */
  final case class OfFiles(merged: Boolean = false) extends FolderColumns
}
