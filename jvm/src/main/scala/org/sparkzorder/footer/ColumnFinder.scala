package org.sparkzorder.footer

import java.util.{IdentityHashMap, Locale}

/** Where a file has a column of the table. */
private[footer] sealed trait ColumnMatch[+T]

private[footer] object ColumnMatch {

  /**
   * The fields from the top-level one down. It is exact if all names agree in case, and no other name does but for it.
   */
  final case class Found[T](way: Seq[T], exact: Boolean) extends ColumnMatch[T]

  /** @param inAnyCase whether the file has the name in no case, so that no session finds it */
  final case class Lacking(inAnyCase: Boolean) extends ColumnMatch[Nothing]

  /** Several columns of the file could be meant. */
  case object Unclear extends ColumnMatch[Nothing]

  /** What is above the column is no struct. */
  case object NoStruct extends ColumnMatch[Nothing]
}

/**
 * Finds the columns of one file by the names of the table, as Spark's readers find them. The names
 * are folded only once, so finding a column takes constant time. Not thread-safe.
 *
 * @param fieldsOf the fields of a struct with their names
 */
private[footer] final class ColumnFinder[T <: AnyRef](
    root: T,
    caseSensitive: Boolean,
    isStruct: T => Boolean,
    fieldsOf: T => Seq[(String, T)]
) {
  private val structs = new IdentityHashMap[T, Map[String, Seq[(String, T)]]]

  /** @param column a table's column, or a field in its structs */
  def of(column: Seq[String]): ColumnMatch[T] = find(root, column.toList, Nil, exact = true)

  private def find(struct: T, names: List[String], way: List[T], exact: Boolean): ColumnMatch[T] = {
    val fields = structs.computeIfAbsent(struct, s => fieldsOf(s).groupBy(f => ColumnFinder.fold(f._1)))
    val similar = fields.getOrElse(ColumnFinder.fold(names.head), Nil)
    val same = similar.filter(_._1 == names.head)
    val found = if (caseSensitive) same else similar
    // ORC's reader finds fields of structs in any case, and takes the last one.
    val isExact = exact && similar.size == 1 && same.nonEmpty
    found match {
      case Nil                                => ColumnMatch.Lacking(similar.isEmpty && exact)
      case Seq((_, it)) if names.tail.isEmpty => ColumnMatch.Found((it :: way).reverse, isExact)
      case Seq((_, it)) if isStruct(it)       => find(it, names.tail, it :: way, isExact)
      case Seq(_)                             => ColumnMatch.NoStruct
      case _                                  => ColumnMatch.Unclear
    }
  }
}

private[footer] object ColumnFinder {
  def fold(name: String): String = name.toLowerCase(Locale.ROOT)
}
