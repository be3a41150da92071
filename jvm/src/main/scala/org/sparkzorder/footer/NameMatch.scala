package org.sparkzorder.footer

import java.util.Locale

/** What there is of a table's column among the names in a file. */
private[footer] sealed trait NameMatch

private[footer] object NameMatch {

  /** @param exact false when the names agree but for case, so that a case-sensitive session would not find it */
  final case class Found(index: Int, exact: Boolean) extends NameMatch
  case object Ambiguous extends NameMatch

  /** @param inAnyCase whether no spelling of the name is there, so that every session misses it */
  final case class Absent(inAnyCase: Boolean) extends NameMatch

  def fold(name: String): String = name.toLowerCase(Locale.ROOT)
}

/**
 * The names of one struct in a file, where columns are found as Spark's readers find them. All names are folded once, so
 * that finding each of a table's columns takes time in proportion to their number.
 */
private[footer] final class FieldNames(names: IndexedSeq[String]) {
  import NameMatch._

  private val byFold: Map[String, IndexedSeq[Int]] = names.indices.groupBy(i => fold(names(i)))

  def find(wanted: String, caseSensitive: Boolean): NameMatch = {
    val similar = byFold.getOrElse(fold(wanted), IndexedSeq.empty)
    val same = similar.filter(i => names(i) == wanted)
    if (similar.isEmpty) Absent(inAnyCase = true)
    else if (caseSensitive) {
      if (same.isEmpty) Absent(inAnyCase = false)
      else if (same.size > 1) Ambiguous
      else Found(same.head, exact = true)
    } else if (similar.size > 1) Ambiguous
    else Found(similar.head, exact = same.nonEmpty)
  }
}
