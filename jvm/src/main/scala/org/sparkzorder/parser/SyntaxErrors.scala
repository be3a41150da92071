package org.sparkzorder.parser

import org.antlr.v4.runtime.{ParserRuleContext, Token}
import org.apache.spark.sql.catalyst.parser.ParseException

/** Spark's syntax errors, at a token of a statement. */
private[parser] object SyntaxErrors {

  /** @param hint what follows after the place, such as `: missing ')'` */
  def at(token: Token, hint: String): ParseException = {
    val near = if (token.getType == Token.EOF) "end of input" else s"'${token.getText}'"
    of("PARSE_SYNTAX_ERROR", Map("error" -> near, "hint" -> hint), token)
  }

  def of(condition: String, parameters: Map[String, String], token: Token): ParseException = {
    val place = new ParserRuleContext()
    place.start = token
    place.stop = token
    new ParseException(condition, parameters, place)
  }
}
