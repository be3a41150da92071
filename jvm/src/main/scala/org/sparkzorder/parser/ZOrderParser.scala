package org.sparkzorder.parser

import org.antlr.v4.runtime.ParserRuleContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import org.sparkzorder.command.Commands
import org.sparkzorder.shim.ParserShim
import org.sparkzorder.table.Targets

/**
 * Takes the statements of ours out and hands everything else on. A statement whose grammar we share with a table format (OPTIMIZE,
 * VACUUM, DESCRIBE HISTORY ..) is ours only when its table is; otherwise the next parser gets the text untouched, and only
 * when that one does not know it either do we say what we take.
 */
class ZOrderParser(session: SparkSession, val delegate: ParserInterface) extends ParserShim {

  override protected def parseOr(sql: String, next: => LogicalPlan): LogicalPlan =
    if (!StatementParser.mayBeOurs(sql)) next
    else {
      val statement =
        try Right(StatementParser.parse(sql, unquote))
        catch { case e: StatementSyntaxError => Left(e) }
      statement match {
        case Right(s: TableStatement) if !Targets.isOurs(session, s.target) =>
          try next
          catch { case _: ParseException => Commands.of(s, delegate) }
        case Right(s) => Commands.of(s, delegate)
        case Left(error) =>
          try next
          catch { case _: ParseException if StatementParser.isOursAlone(sql) => throw syntaxError(error) }
      }
    }

  private def unquote(literal: String): String = delegate.parseExpression(literal) match {
    case Literal(value, _) => value.toString
    case other             => other.sql
  }

  private def syntaxError(e: StatementSyntaxError): ParseException = {
    val place = new ParserRuleContext()
    place.start = e.at
    place.stop = e.at
    new ParseException(
      "PARSE_SYNTAX_ERROR",
      Map("error" -> e.near, "hint" -> ": a statement of spark-zorder is expected"),
      place)
  }
}
