package org.sparkzorder.parser

import java.util.Locale

import org.antlr.v4.runtime._
import org.antlr.v4.runtime.misc.Interval

import org.sparkzorder.parser.antlr.{ZOrderSqlLexer, ZOrderSqlParser => Grammar}
import org.sparkzorder.statement.{Predicate, Statement}

/** The text is not one of our statements.
 *
 * @param at the first token that does not fit
 */
final class StatementSyntaxError(val at: Token) extends RuntimeException(at.getText)

/** Parses the text of a [[Statement]], without Spark. */
object StatementParser {

  /**
   * Whether a text begins like one of our statements, so that it is worth parsing. It looks at four
   * tokens at most, since every statement of the session comes through here.
   */
  def mayBeOurs(sql: String): Boolean = beginsLikeOurs(firstWords(sql, 4))

  private def beginsLikeOurs(words: List[String]): Boolean = words match {
    case "OPTIMIZE" :: _ | "RESTORE" :: _ | "VACUUM" :: _                                 => true
    case ("CREATE" | "REFRESH" | "DROP" | "EXPLAIN" | "CLEAR") :: "SKIPPING" :: _         => true
    case "CREATE" :: "OR" :: "REPLACE" :: "SKIPPING" :: _                                 => true
    case ("DESCRIBE" | "DESC") :: ("SKIPPING" | "CLUSTERING" | "HISTORY" | "DETAIL") :: _ => true
    case "SHOW" :: ("CLUSTERING" | "OPERATIONS") :: _                                     => true
    case _                                                                                => false
  }

  /** Whether a text is a SQL script, such as `BEGIN SELECT 1; END`. */
  def isScript(sql: String): Boolean = firstWords(sql, 1) == List("BEGIN")

  /** The first word of a statement of ours that begins at a token of a script, or at one of the three tokens before it. */
  private[parser] def oursAround(sql: String, token: Token): Option[String] = {
    val (before, after) = tokens(sql).toList.span(_.getStartIndex < token.getStartIndex)
    val words = (before.takeRight(3) ++ after.take(4)).map(_.getText.toUpperCase(Locale.ROOT))
    words.tails.take(4).find(tail => beginsLikeOurs(tail.take(4))).map(_.head)
  }

  /** Whether a text begins like a statement that only we have. */
  def isOursAlone(sql: String): Boolean = firstWords(sql, 4) match {
    case ("CREATE" | "REFRESH" | "DROP" | "EXPLAIN" | "CLEAR") :: "SKIPPING" :: _ => true
    case "CREATE" :: "OR" :: "REPLACE" :: "SKIPPING" :: _                         => true
    case "SHOW" :: ("CLUSTERING" | "OPERATIONS") :: _                             => true
    case _                                                                        => false
  }

  /** Whether Spark has no statement that begins with the first word of a text. */
  def isUnknownToSpark(sql: String): Boolean = firstWords(sql, 1) match {
    case ("OPTIMIZE" | "RESTORE" | "VACUUM") :: Nil => true
    case _                                          => false
  }

  private val layout =
    "[ZORDER BY (c [WEIGHT n], ..) | HILBERT BY (c [WEIGHT n], ..) | ORDER BY (c, ..) | ZORDER BY AUTO]"

  /** The syntax of the statement that a text begins like, for its error message. */
  def form(sql: String): String = firstWords(sql, 1) match {
    case "OPTIMIZE" :: Nil =>
      s"OPTIMIZE [TABLE] <table> [FULL] [JOIN <dimension> ON a = b ..] [WHERE <predicate>] $layout " +
        "[OPTIONS ('key' = 'value', ..)] [DRY RUN]"
    case "RESTORE" :: Nil =>
      "RESTORE [TABLE] <table> TO VERSION AS OF <n> | TIMESTAMP AS OF '<time>' [OPTIONS ('lost-files' = 'restore')]"
    case "VACUUM" :: Nil              => "VACUUM <table> [RETAIN <n> HOURS | DAYS] [DRY RUN]"
    case "CREATE" :: Nil              => "CREATE [OR REPLACE] SKIPPING INDEX ON <table> [([*,] c [VALUES | BLOOM], ..)]"
    case "CLEAR" :: Nil               => "CLEAR SKIPPING MEMORY ON <table>"
    case "EXPLAIN" :: Nil             => "EXPLAIN SKIPPING [FILES | ANALYZE] <query>"
    case "SHOW" :: Nil                => "SHOW CLUSTERING [IN <database>] | SHOW OPERATIONS"
    case ("DESCRIBE" | "DESC") :: Nil => "DESCRIBE SKIPPING INDEX ON <table> [(c, ..)]"
    case word :: _                    => s"$word SKIPPING INDEX ON <table>"
    case Nil                          => "a statement of spark-zorder"
  }

  /**
   * @param unquote gives the value of a string literal
   * @param predicate makes a predicate of its text and of its place in the statement, in code points
   * @throws StatementSyntaxError when the text is not one of our statements
   */
  def parse(sql: String, unquote: String => String, predicate: (String, Int) => Predicate): Statement = {
    val lexer = new ZOrderSqlLexer(new UpperCaseStream(CharStreams.fromString(sql)))
    lexer.removeErrorListeners()
    val grammar = new Grammar(new CommonTokenStream(lexer))
    grammar.removeErrorListeners()
    grammar.addErrorListener(Listener)
    new StatementBuilder(unquote, predicate).visitSingleStatement(grammar.singleStatement())
  }

  /** The tokens of any SQL text, without comments and white space. */
  private[parser] def tokens(sql: String): Iterator[Token] = withEnd(sql).takeWhile(_.getType != Token.EOF)

  /**
   * The first token of a SQL text at or after a place, else the token of its end.
   *
   * @param line counted from 1
   * @param column counted from 0, in code points
   */
  private[parser] def tokenAt(sql: String, line: Int, column: Int): Token =
    withEnd(sql).dropWhile { token =>
      val isBefore = token.getLine < line || token.getLine == line && token.getCharPositionInLine < column
      isBefore && token.getType != Token.EOF
    }.next()

  private def withEnd(sql: String): Iterator[Token] = {
    val lexer = new ZOrderSqlLexer(new UpperCaseStream(CharStreams.fromString(sql)))
    lexer.removeErrorListeners()
    Iterator.continually(lexer.nextToken()).filter(_.getChannel == Token.DEFAULT_CHANNEL)
  }

  private def firstWords(sql: String, n: Int): List[String] =
    tokens(sql).take(n).map(_.getText.toUpperCase(Locale.ROOT)).toList

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

/**
 * A text whose letters from a to z look like capitals to the lexer, and that stays as it was written in tokens. The
 * grammar's own option for this is unknown to the ANTLR of Spark 3.5.
 */
private[parser] class UpperCaseStream(text: CharStream) extends CharStream {
  override def LA(offset: Int): Int = text.LA(offset) match {
    case letter if 'a' <= letter && letter <= 'z' => letter - 'a' + 'A'
    case other                                    => other
  }

  override def consume(): Unit = text.consume()
  override def mark(): Int = text.mark()
  override def release(marker: Int): Unit = text.release(marker)
  override def index(): Int = text.index()
  override def seek(index: Int): Unit = text.seek(index)
  override def size(): Int = text.size()
  override def getSourceName: String = text.getSourceName
  override def getText(interval: Interval): String = text.getText(interval)
}
