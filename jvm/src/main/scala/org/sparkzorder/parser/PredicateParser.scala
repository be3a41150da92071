package org.sparkzorder.parser

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, OneRowRelation, Project}

import org.sparkzorder.shim.SparkShim.conditionOf
import org.sparkzorder.statement.Predicate

/**
 * Reads the predicate of a WHERE as the WHERE of a query. Spark's parser of expressions would take
 * a word after the predicate for an alias, so that `WHERE p = 1 DRYRUN` meant `WHERE p = 1`. A WHERE
 * ends with its predicate, and has the values of its parameters if Spark's parser knows them.
 */
private[parser] object PredicateParser {

  private val Query = "SELECT 1 WHERE"

  /**
   * @param sql the statement
   * @param text the predicate, which is a part of the statement
   * @param start the place of the predicate in the statement, in code points
   * @param parse parses a query
   * @throws org.apache.spark.sql.catalyst.parser.ParseException with the place in the statement, when
   *   the text is anything else than a predicate
   */
  def read(sql: String, text: String, start: Int, parse: String => LogicalPlan): Expression = {
    // The predicate is in its column. Its line is one later.
    val before =
      sql.codePoints.limit(start.toLong).toArray.map(c => if (c == '\n' || c == '\r') c.toChar else ' ').mkString
    def parsed(open: String, close: String): LogicalPlan =
      try parse(s"$Query $open\n$before$text$close")
      catch { case e: ParseException => throw inStatement(sql, e) }
    parsed("", "") match {
      case IsPredicate(condition) => condition
      // A clause such as GROUP BY follows. In parentheses it is an error, which shows the clause.
      case _ =>
        parsed("(", ")")
        val first = StatementParser.tokens(sql).find(_.getStartIndex == start).get
        throw SyntaxErrors.at(first, ": WHERE takes one predicate")
    }
  }

  /** The predicate with the values of its parameters also in the text. */
  def shown(predicate: Predicate, condition: Expression): Predicate =
    new Predicate(if (hasMarkers(predicate.text)) condition.sql else predicate.text, condition)

  private object IsPredicate {
    def unapply(plan: LogicalPlan): Option[Expression] = plan match {
      case Project(Seq(_), Filter(condition, OneRowRelation())) => Some(condition)
      case _                                                    => None
    }
  }

  private def hasMarkers(text: String): Boolean =
    StatementParser.tokens(text).map(_.getText).exists(token => token == ":" || token == "?")

  private def inStatement(sql: String, e: ParseException): ParseException = {
    val at = StatementParser.tokenAt(sql, e.start.line.getOrElse(2) - 1, e.start.startPosition.getOrElse(0))
    if (conditionOf(e) == "PARSE_SYNTAX_ERROR") SyntaxErrors.at(at, e.messageParameters.getOrElse("hint", ""))
    else SyntaxErrors.of(conditionOf(e), e.messageParameters, at)
  }
}
