package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.{expressions => catalyst}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/**
 * The part of a LIKE pattern that the order of strings can use: how each match begins, and what is said of the rest.
 */
private[predicate] final case class LikePattern(prefix: String, rest: LikePattern.Rest)

private[predicate] object LikePattern {
  sealed trait Rest

  case object Nothing extends Rest

  case object Anything extends Rest

  /** The pattern restricts what follows, in a way that the order of strings cannot express. */
  case object Something extends Rest

  /**
   * None for a pattern that Spark refuses: an escape character at the end, or before an ordinary character.
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

  /** Before SPARK-55453 Spark quotes patterns by UTF-16 units, and a regular expression finds no half a character. */
  private def isItself(point: Int): Boolean = point != Replacement && point <= 0xffff

  private val Replacement = 0xfffd
}

/** The text with which every string begins in which a regular expression is found. */
private[predicate] object RegexPrefix {

  /**
   * The characters after `^` up to the first one that is not itself, without the one before a quantifier. Empty if
   * there are none, or if the expression has alternatives.
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

/** Conditions on texts whose start is known. */
private[predicate] final class StringConditions(operands: Operands) {

  /** None for a condition of another kind. */
  def of(e: Expression): Option[StatsPredicate] = e match {
    case catalyst.StartsWith(child, prefix: Literal)    => Some(about(child, prefix)(_.startsWith(_)))
    case catalyst.Like(child, pattern: Literal, escape) => Some(about(child, pattern)(like(_, _, escape)))
    case catalyst.RLike(child, regex: Literal)          => Some(about(child, regex) { (tests, text) =>
        StringTests.onlyWhere(tests.startsWith(RegexPrefix.of(text)), "only the start of a regular expression is used")
      })
    case catalyst.LikeAll(child, patterns)    => likes(child, patterns).reduceLeftOption(And(_, _))
    case catalyst.NotLikeAll(child, patterns) =>
      likes(child, patterns).map(Not(_): StatsPredicate).reduceLeftOption(And(_, _))
    case catalyst.LikeAny(child, patterns)    => likes(child, patterns).reduceLeftOption(Or(_, _))
    case catalyst.NotLikeAny(child, patterns) =>
      likes(child, patterns).map(Not(_): StatsPredicate).reduceLeftOption(Or(_, _))
    case _ => None
  }

  /** `e = text`, for a function of a string, or a text of a number. */
  def equal(e: Expression, text: Literal): Option[StatsPredicate] = tests(e, text).map(_.equal(text.value.toString))

  private def tests(e: Expression, text: Literal): Option[StringTests] =
    if (e.dataType != StringType || text.dataType != StringType || !ColumnFunction.isText(text)) None
    else StringFunctions.of(e, operands)

  private def about(child: Expression, text: Literal)(test: (StringTests, String) => StatsPredicate): StatsPredicate =
    if (text.value == null) Const.Null
    else
      tests(child, text).fold(
        operands.operand(child).fold[StatsPredicate](Unknown(_), _ => Operands.mismatch(child, text))
      )(test(_, text.value.toString))

  private def like(of: StringTests, pattern: String, escape: Char): StatsPredicate =
    LikePattern.parse(pattern, escape) match {
      case Some(LikePattern(prefix, LikePattern.Nothing))   => of.equal(prefix)
      case Some(LikePattern(prefix, LikePattern.Anything))  => of.startsWith(prefix)
      case Some(LikePattern(prefix, LikePattern.Something)) =>
        // A value without the prefix gives false, one with it anything. A null row gives null or
        // false: LIKE gives null.
        And(of.startsWith(prefix), Unknown(Reason(ReasonCode.UnsupportedExpression, "only the prefix of LIKE is used")))
      case None => Unknown(Reason(ReasonCode.UnsupportedExpression, "the pattern of LIKE is invalid"))
    }

  /** The patterns of LIKE ALL and LIKE ANY, which are Kleene's AND and OR of them. A null pattern gives null. */
  private def likes(child: Expression, patterns: Seq[UTF8String]): Seq[StatsPredicate] =
    patterns.map(p => about(child, Literal(p, StringType))(like(_, _, '\\')))
}
