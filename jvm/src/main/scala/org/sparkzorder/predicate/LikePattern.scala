package org.sparkzorder.predicate

/**
 * The part of a LIKE pattern that the order of strings can use.
 *
 * @param prefix every matching string begins with it
 * @param rest what the pattern says about the characters behind the prefix
 */
private[predicate] final case class LikePattern(prefix: String, rest: LikePattern.Rest)

private[predicate] object LikePattern {
  sealed trait Rest

  /** Nothing may follow the prefix. */
  case object Nothing extends Rest

  /** Anything may follow the prefix. */
  case object Anything extends Rest

  /** The pattern restricts what follows, in a way that the order of strings cannot express. */
  case object Something extends Rest

  /**
   * None for a pattern that Spark refuses: an escape character at the end, or before an ordinary
   * character.
   *
   * Spark matches LIKE on decoded strings, where broken UTF-8 becomes U+FFFD, but statistics are
   * about bytes. Every other character is decoded from one sequence of bytes only. So the prefix
   * ends before the first U+FFFD: then it is a prefix in bytes too.
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
      } else if (rest == Nothing && (escaped || point != '_') && isItself(points(i))) {
        prefix.appendCodePoint(points(i))
      } else {
        if (rest == Nothing) rest = Something
        onlyPercents = false
      }
      i += 1
    }
    Some(LikePattern(prefix.toString, if (rest == Anything && !onlyPercents) Something else rest))
  }

  /** Spark before SPARK-55453 quotes a pattern by UTF-16 units, and a regular expression finds no half of a character. */
  private def isItself(point: Int): Boolean = point != Replacement && point <= 0xffff

  private val Replacement = 0xfffd
}

/** The text with which every string begins in which a regular expression is found. */
private[predicate] object RegexPrefix {

  /**
   * The characters after `^` up to the first one that is not itself, without the one before a quantifier. Empty if there are
   * none, or if the expression has alternatives.
   *
   * Statistics are about bytes. Broken UTF-8 is decoded to U+FFFD, so the text ends before one.
   */
  def of(regex: String): String =
    if (!regex.startsWith("^") || regex.contains("|")) ""
    else {
      val text = regex.drop(1).takeWhile(c => !Special.contains(c) && c != '\ufffd' && !Character.isSurrogate(c))
      val next = regex.drop(1 + text.length).headOption
      if (next.exists(Quantifiers.contains(_))) text.dropRight(1) else text
    }

  private val Special = "\\^$.|?*+()[]{}"
  private val Quantifiers = "?*+{"
}
