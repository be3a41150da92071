package org.sparkzorder.predicate

/**
 * A LIKE pattern as far as the order of strings can tell.
 *
 * @param prefix what every matching string begins with
 * @param rest what follows the prefix in the pattern
 */
private[predicate] final case class LikePattern(prefix: String, rest: LikePattern.Rest)

private[predicate] object LikePattern {
  sealed trait Rest

  /** The pattern is the prefix and nothing else. */
  case object Nothing extends Rest

  /** Anything may follow the prefix. */
  case object Anything extends Rest

  /** What may follow the prefix cannot be told from the order of strings. */
  case object Something extends Rest

  /**
   * None for a pattern that Spark refuses: a lone escape character at the end, or one before an ordinary character.
   *
   * Spark matches LIKE on decoded strings, where broken UTF-8 is U+FFFD, but statistics are of bytes. Every other
   * character is decoded from one byte sequence only, so a prefix without U+FFFD is a prefix in bytes too: it is cut
   * there.
   */
  def parse(pattern: String, escape: Char): Option[LikePattern] = {
    val points = pattern.codePoints.toArray
    val prefix = new java.lang.StringBuilder
    var rest: Rest = Nothing
    var onlyPercents = true
    var i = 0
    while (i < points.length) {
      val point = points(i)
      val escaped = point == escape
      if (escaped) {
        i += 1
        if (i == points.length || (points(i) != '%' && points(i) != '_' && points(i) != escape)) return None
      }
      if (!escaped && point == '%') {
        if (rest == Nothing) rest = Anything
      } else if (rest == Nothing && (escaped || point != '_') && points(i) != Replacement) {
        prefix.appendCodePoint(points(i))
      } else {
        if (rest == Nothing) rest = Something
        onlyPercents = false
      }
      i += 1
    }
    Some(LikePattern(prefix.toString, if (rest == Anything && !onlyPercents) Something else rest))
  }

  private val Replacement = 0xfffd
}
