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
