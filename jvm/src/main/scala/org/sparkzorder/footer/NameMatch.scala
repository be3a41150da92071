package org.sparkzorder.footer

import java.util.Locale

/** The result of looking for a table's column among the names in a file. */
private[footer] sealed trait NameMatch

private[footer] object NameMatch {

  /**
   * @param exact false when only the case differs, so that a case-sensitive session does not find
   *   it
   */
  final case class Found(index: Int, exact: Boolean) extends NameMatch
  case object Ambiguous extends NameMatch

  /** @param inAnyCase whether the file has the name in no case, so that no session finds it */
  final case class Absent(inAnyCase: Boolean) extends NameMatch

  def fold(name: String): String = name.toLowerCase(Locale.ROOT)
}
