package org.sparkzorder.write.orc

import org.apache.orc.OrcProto

/**
 * Bounds of strings that hold in two orders.
 *
 * ORC's writer finds the least and the greatest string by the bytes of UTF-8. Its reader compares them with a literal as
 * Java does, by the units of UTF-16. A character above U+FFFF has units from U+D800 to U+DFFF there, and comes before
 * those from U+E000 to U+FFFF. So with a maximum of U+1F600, the reader skips the row group that `x = U+FFEE` would find.
 * Both orders agree on characters below U+D800.
 */
private[write] object OrcTextBounds {

  /**
   * Makes bounds wider that may not hold in both orders. A minimum stays a minimum, since old readers take a row group
   * without one for empty.
   */
  def widen(statistics: OrcProto.StringStatistics.Builder): Unit = {
    if (statistics.hasMinimum) statistics.setMinimum(low(statistics.getMinimum))
    if (statistics.hasLowerBound) statistics.setLowerBound(low(statistics.getLowerBound))
    if (statistics.hasMaximum) high(statistics.getMaximum) match {
      case Some(bound) => statistics.setMaximum(bound)
      case None        => statistics.clearMaximum().setUpperBound(HighestUtf16)
    }
    if (statistics.hasUpperBound) statistics.setUpperBound(high(statistics.getUpperBound).getOrElse(HighestUtf16))
  }

  /** A string that is not above any string from `min` on, in either order: its part that both orders treat alike. */
  def low(min: String): String = cut(min, _ > Character.MAX_SURROGATE)

  /** A string that is not below any string up to `max`, in either order; None if there is none. */
  def high(max: String): Option[String] = {
    val before = cut(max, Character.isSurrogate(_))
    if (before.length == max.length) Some(max)
    else {
      val at = before.lastIndexWhere(_ < '\ud7ff')
      if (at < 0) None else Some(before.substring(0, at) + (before(at) + 1).toChar)
    }
  }

  private def cut(s: String, at: Char => Boolean): String = s.indexWhere(at) match {
    case -1 => s
    case i  => s.substring(0, i)
  }

  /** U+FFFF is no character, and no text has it so often. Readers by bytes do not use ORC's upper bounds. */
  val HighestUtf16: String = "\uffff" * 64
}
