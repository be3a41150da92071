package org.sparkzorder.footer

import java.util.Locale

/** Finds a table's column among the names in a file, as Spark's readers do. */
private[footer] sealed trait NameMatch

private[footer] object NameMatch {

  /** @param exact false when the names agree but for case, so that a case-sensitive session would not find it */
  final case class Found(index: Int, exact: Boolean) extends NameMatch
  case object Ambiguous extends NameMatch

  /** @param inAnyCase whether no spelling of the name is there, so that every session misses it */
  final case class Absent(inAnyCase: Boolean) extends NameMatch

  def find(names: Seq[String], wanted: String, caseSensitive: Boolean): NameMatch = {
    val folded = fold(wanted)
    val similar = names.indices.filter(i => fold(names(i)) == folded)
    val same = similar.filter(i => names(i) == wanted)
    if (similar.isEmpty) Absent(inAnyCase = true)
    else if (caseSensitive) {
      if (same.isEmpty) Absent(inAnyCase = false)
      else if (same.size > 1) Ambiguous
      else Found(same.head, exact = true)
    } else if (similar.size > 1) Ambiguous
    else Found(similar.head, exact = same.nonEmpty)
  }

  def fold(name: String): String = name.toLowerCase(Locale.ROOT)
}
