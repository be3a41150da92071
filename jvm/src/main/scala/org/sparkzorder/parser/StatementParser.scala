package org.sparkzorder.parser

import java.util.Locale

import org.antlr.v4.runtime._

import org.sparkzorder.parser.antlr.{ZOrderSqlLexer, ZOrderSqlParser => Grammar}
import org.sparkzorder.statement.Statement

/** A text is not a statement of ours: `at` is the first token that does not fit. */
final class StatementSyntaxError(val at: Token) extends RuntimeException(at.getText) {
  def near: String = if (at.getType == Token.EOF) "end of input" else s"'${at.getText}'"
}

/** Text to [[Statement]], apart from Spark. */
object StatementParser {

  /**
   * Whether the first words of a text are those of a statement of ours, so that it is worth parsing. Looks at no more than
   * four tokens: every statement of the session comes by here.
   */
  def mayBeOurs(sql: String): Boolean = firstWords(sql, 4) match {
    case "OPTIMIZE" :: _ | "RESTORE" :: _ | "VACUUM" :: _                                 => true
    case ("CREATE" | "REFRESH" | "DROP" | "EXPLAIN") :: "SKIPPING" :: _                   => true
    case "CREATE" :: "OR" :: "REPLACE" :: "SKIPPING" :: _                                 => true
    case ("DESCRIBE" | "DESC") :: ("SKIPPING" | "CLUSTERING" | "HISTORY" | "DETAIL") :: _ => true
    case _                                                                                => false
  }

  /** Whether the first words are those of statements that nobody but us has. */
  def isOursAlone(sql: String): Boolean = firstWords(sql, 4) match {
    case ("CREATE" | "REFRESH" | "DROP" | "EXPLAIN") :: "SKIPPING" :: _ => true
    case "CREATE" :: "OR" :: "REPLACE" :: "SKIPPING" :: _               => true
    case _                                                              => false
  }

  /** Whether the first word begins no statement of Spark's. */
  def isUnknownToSpark(sql: String): Boolean = firstWords(sql, 1) match {
    case ("OPTIMIZE" | "RESTORE" | "VACUUM") :: Nil => true
    case _                                          => false
  }

  private val layout = "[ZORDER BY (c, ..) | HILBERT BY (c, ..) | ORDER BY (c, ..)]"

  /** How the statement is written that a text begins as, for its error. */
  def form(sql: String): String = firstWords(sql, 1) match {
    case "OPTIMIZE" :: Nil =>
      s"OPTIMIZE [TABLE] <table> [FULL] [WHERE <predicate>] $layout [OPTIONS ('key' = 'value', ..)]"
    case "RESTORE" :: Nil             => "RESTORE [TABLE] <table> TO VERSION AS OF <n> | TIMESTAMP AS OF '<time>'"
    case "VACUUM" :: Nil              => "VACUUM <table> [RETAIN <n> HOURS | DAYS] [DRY RUN]"
    case "CREATE" :: Nil              => "CREATE [OR REPLACE] SKIPPING INDEX ON <table> [(c, ..)]"
    case "EXPLAIN" :: Nil             => "EXPLAIN SKIPPING <query>"
    case ("DESCRIBE" | "DESC") :: Nil => "DESCRIBE SKIPPING INDEX ON <table> [(c, ..)]"
    case word :: _                    => s"$word SKIPPING INDEX ON <table>"
    case Nil                          => "a statement of spark-zorder"
  }

  /**
   * @param unquote value of a string literal
   * @throws StatementSyntaxError when the text is none of our statements
   */
  def parse(sql: String, unquote: String => String): Statement = {
    val lexer = new ZOrderSqlLexer(CharStreams.fromString(sql))
    lexer.removeErrorListeners()
    val grammar = new Grammar(new CommonTokenStream(lexer))
    grammar.removeErrorListeners()
    grammar.addErrorListener(Listener)
    new StatementBuilder(unquote).visitSingleStatement(grammar.singleStatement())
  }

  private def firstWords(sql: String, n: Int): List[String] = {
    val lexer = new ZOrderSqlLexer(CharStreams.fromString(sql))
    lexer.removeErrorListeners()
    Iterator
      .continually(lexer.nextToken())
      .takeWhile(_.getType != Token.EOF)
      .filter(_.getChannel == Token.DEFAULT_CHANNEL)
      .take(n)
      .map(_.getText.toUpperCase(Locale.ROOT))
      .toList
  }

  private object Listener extends BaseErrorListener {
    override def syntaxError(
        recognizer: Recognizer[_, _],
        offending: Any,
        line: Int,
        column: Int,
        message: String,
        cause: RecognitionException
    ): Unit = throw new StatementSyntaxError(offending.asInstanceOf[Token])
  }
}
