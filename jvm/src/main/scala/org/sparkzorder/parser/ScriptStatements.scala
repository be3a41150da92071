package org.sparkzorder.parser

import java.util.Locale
import java.util.concurrent.ThreadLocalRandom

import org.antlr.v4.runtime.Token

import org.sparkzorder.compat._
import org.sparkzorder.parser.StatementParser.tokens
import org.sparkzorder.parser.antlr.ZOrderSqlLexer

/**
 * Finds our statements in a SQL script such as `BEGIN OPTIMIZE t; SELECT 1; END`, by its tokens.
 *
 * A statement begins after `BEGIN`, `;`, `THEN`, `ELSE`, `DO`, `LOOP`, `REPEAT` or the conditions of
 * a handler, and ends before the next semicolon. A name before a colon is the label of a block or a
 * loop. `THEN` and `ELSE` of a CASE expression begin none: `CASE` begins a statement
 * or follows `END`, or else it is an expression.
 */
private[parser] object ScriptStatements {

  /** A part of a script, in code points. */
  final case class Place(start: Int, end: Int) {
    def of(script: String): String =
      script.substring(script.offsetByCodePoints(0, start), script.offsetByCodePoints(0, end))
  }

  private val openers = Set("BEGIN", "THEN", "ELSE", "DO", "LOOP", "REPEAT")

  /**
   * Numbers that no script contains by chance: each placeholder selects one of its own. Places in
   * the text do not tell placeholders apart, since Spark puts the values of parameters into the text.
   */
  def marks(n: Int): Seq[Long] = {
    val first = ThreadLocalRandom.current().nextLong(1000000000000000000L, 9000000000000000000L)
    Seq.tabulate(n)(first + _)
  }

  def isScript(sql: String): Boolean = tokens(sql).nextOption().exists(word(_) == "BEGIN")

  /** Where statements are that begin like ours. */
  def places(script: String): Seq[Place] = {
    val all = tokens(script).toIndexedSeq
    val places = Seq.newBuilder[Place]
    val handlers = handled(all)
    var begins = false
    var caseExpressions = 0
    var n = 0
    while (n < all.size) {
      val now = word(all(n))
      val semicolon = all.indexWhere(_.getType == ZOrderSqlLexer.SEMICOLON, n)
      val isLabel = n + 1 < all.size && word(all(n + 1)) == ":"
      if (
        begins && !isLabel && semicolon > n && StatementParser.mayBeOurs(between(all(n), all(semicolon)).of(script))
      ) {
        places += between(all(n), all(semicolon))
        n = semicolon
        begins = true
        caseExpressions = 0
      } else {
        if (now == "CASE" && !begins && (n == 0 || word(all(n - 1)) != "END")) caseExpressions += 1
        else if (now == "END" && caseExpressions > 0) caseExpressions -= 1
        if (now == ";") caseExpressions = 0
        // In `END LOOP label` nothing begins.
        val isEnd = (now == "LOOP" || now == "REPEAT") && n > 0 && word(all(n - 1)) == "END"
        val opens = openers(now) && caseExpressions == 0 && !isEnd
        begins = now == ";" || handlers(n + 1) || opens ||
          begins && (now == "NOT" || now == "ATOMIC")
      }
      n += 1
    }
    places.result()
  }

  /**
   * The places of the tokens after `HANDLER FOR condition, ..`, where the handler's statement begins.
   * A condition is `SQLSTATE [VALUE] '..'`, `NOT FOUND`, or a name of one or more parts.
   */
  private def handled(all: IndexedSeq[Token]): Set[Int] = {
    def at(n: Int): String = if (n < all.size) word(all(n)) else ""
    def afterName(n: Int): Int = if (at(n + 1) == ".") afterName(n + 2) else n + 1
    def afterConditions(n: Int): Int = {
      val next = at(n) match {
        case "SQLSTATE" if at(n + 1) == "VALUE" => n + 3
        case "SQLSTATE" | "NOT"                 => n + 2
        case _                                  => afterName(n)
      }
      if (at(next) == ",") afterConditions(next + 1) else next
    }
    all.indices.filter(n => at(n) == "HANDLER" && at(n + 1) == "FOR").map(n => afterConditions(n + 2)).toSet
  }

  /**
   * The script with a statement of Spark in place of each of ours, on the same lines. It is at the
   * same place, unless a statement on the line is shorter than its placeholder.
   */
  def withPlaceholders(script: String, places: Seq[(Place, Long)]): String =
    // The last one first, as text behind a place may move.
    places.foldRight(script) { case ((place, mark), text) =>
      val placeholder = s"SELECT $mark"
      val old = place.of(text)
      val lines = old.take(placeholder.length).filter(c => c == '\n' || c == '\r')
      val blank = old.drop(placeholder.length).map(c => if (c == '\n' || c == '\r') c else ' ')
      // A code point of two characters is one blank.
      val points = math.max(0, old.codePointCount(0, old.length) - placeholder.length)
      val begin = text.offsetByCodePoints(0, place.start)
      text.substring(0, begin) + placeholder + lines + blank.take(points) + text.substring(begin + old.length)
    }

  private def between(first: Token, next: Token): Place = Place(first.getStartIndex, next.getStartIndex)

  private def word(token: Token): String = token.getText.toUpperCase(Locale.ROOT)
}
