package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.{expressions => catalyst}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

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
        And(
          of.startsWith(prefix),
          Unknown(Reason(ReasonCode.UnsupportedExpression, "only the prefix of LIKE is used"))
        )
      case None => Unknown(Reason(ReasonCode.UnsupportedExpression, "the pattern of LIKE is invalid"))
    }

  /** The patterns of LIKE ALL and LIKE ANY, which are Kleene's AND and OR of them. A null pattern gives null. */
  private def likes(child: Expression, patterns: Seq[UTF8String]): Seq[StatsPredicate] =
    patterns.map(p => about(child, Literal(p, StringType))(like(_, _, '\\')))
}
