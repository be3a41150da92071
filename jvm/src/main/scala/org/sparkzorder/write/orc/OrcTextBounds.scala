package org.sparkzorder.write.orc

import org.apache.orc.OrcProto

/**
 * Bounds of strings that hold in two orders.
 *
 * ORC's writer finds the least and the greatest string by the bytes of UTF-8. Its reader compares them with a literal as
 * Java does, by the units of UTF-16. A character above U+FFFF has units from U+D800 to U+DFFF there, and comes before
 * those from U+E000 to U+FFFF. So with a maximum of U+1F600, the reader skips the row group that `x = U+FFEE` would find.
 */
private[write] object OrcTextBounds {

  /** Makes bounds wider that may not hold in both orders. */
  def widen(statistics: OrcProto.StringStatistics.Builder): Unit = {
    if (statistics.hasMinimum && low(statistics.getMinimum) != statistics.getMinimum)
      statistics.setLowerBound(low(statistics.getMinimum)).clearMinimum()
    else if (statistics.hasLowerBound) statistics.setLowerBound(low(statistics.getLowerBound))
    if (statistics.hasMaximum && high(statistics.getMaximum) != statistics.getMaximum)
      statistics.setUpperBound(high(statistics.getMaximum)).clearMaximum()
    else if (statistics.hasUpperBound) statistics.setUpperBound(high(statistics.getUpperBound))
  }

  /**
   * A string that is not above any string from `min` on, in either order: what comes before the first character that may
   * be above others in UTF-16 only. Both orders agree on characters below U+D800.
   */
  def low(min: String): String = cut(min, _ > Character.MAX_SURROGATE)

  /** A string that is not below any string up to `max`, in either order. */
  def high(max: String): String = {
    val before = cut(max, Character.isSurrogate(_))
    if (before.length == max.length) max else before + Highest
  }

  private def cut(s: String, at: Char => Boolean): String = s.indexWhere(at) match {
    case -1 => s
    case i  => s.substring(0, i)
  }

  /** Nothing is above it: U+FFFF is no character, and it stands here more often than in any text. */
  private val Highest = "\uffff" * 64
}
