package org.sparkzorder.footer

/**
 * Hive's ORC files have no names of columns but `_col0`, `_col1` and so on. Spark reads a file in which all names begin
 * with `_col` by position, whatever the reader calls its columns.
 */
object NamelessColumns {
  private val Prefix = "_col"

  /** Whether a file with these names is read by position. */
  def are(names: Seq[String]): Boolean = names.nonEmpty && names.forall(_.startsWith(Prefix))

  /** Whether a column has such a name, and another position than it says. Nothing said by its name is to be believed. */
  def isMisplaced(names: IndexedSeq[String], column: String): Boolean =
    column.startsWith(Prefix) && !isAtItsPosition(names, column)

  /** Whether a column has such a name, and the position that it says. */
  def isAtItsPosition(names: IndexedSeq[String], column: String): Boolean =
    column.startsWith(Prefix) && column.substring(Prefix.length).toIntOption.exists { i =>
      column == s"$Prefix$i" && names.isDefinedAt(i) && names(i) == column
    }
}
