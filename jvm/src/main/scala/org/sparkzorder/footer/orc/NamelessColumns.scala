package org.sparkzorder.footer.orc

import org.sparkzorder.compat._

/**
 * Old versions of Hive call the columns of ORC files `_col0`, `_col1` and so on. When all names of a
 * file begin with `_col`, Spark finds its columns by position.
 */
object NamelessColumns {
  private val Prefix = "_col"

  /** Whether a file with these names is read by position. */
  def are(names: Seq[String]): Boolean = names.nonEmpty && names.forall(_.startsWith(Prefix))

  /** Whether a column has such a name at another position, so that its statistics are not found by name. */
  def isMisplaced(names: IndexedSeq[String], column: String): Boolean =
    column.startsWith(Prefix) && !isAtItsPosition(names, column)

  /** Whether a column has such a name at the position that the name says. */
  def isAtItsPosition(names: IndexedSeq[String], column: String): Boolean =
    column.startsWith(Prefix) && column.substring(Prefix.length).toIntOption.exists { i =>
      column == s"$Prefix$i" && names.isDefinedAt(i) && names(i) == column
    }
}
