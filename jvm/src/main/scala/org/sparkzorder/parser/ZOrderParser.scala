package org.sparkzorder.parser

import org.antlr.v4.runtime.ParserRuleContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableOrView
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.{DescribeColumn, LogicalPlan}
import org.apache.spark.sql.internal.VariableSubstitution

import org.sparkzorder.shim.{ParserShim, ScriptShim, ScriptStatement}
import org.sparkzorder.statement.{SharedStatement, TableStatement}
import org.sparkzorder.table.{TargetKind, Targets}

/**
 * Parses our statements and hands every other text to the next parser.
 *
 * Table formats have some statements of ours, too, such as OPTIMIZE, VACUUM and DESCRIBE HISTORY.
 * Such a statement is ours only if its table is. Otherwise the next parser gets the unchanged text.
 * If that parser does not know the statement either, our error says why the table is refused. The
 * parser of a table format takes such a statement for any name. So if the name cannot be a table of
 * a format, for example a view, our error comes at once.
 *
 * @param plan makes the plan of one of our statements
 */
class ZOrderParser(session: SparkSession, val delegate: ParserInterface, plan: StatementPlan) extends ParserShim {

  import ZOrderParser.isNobodys

  private val variables = new VariableSubstitution

  override protected def parseOr(sql: String, next: String => LogicalPlan): LogicalPlan =
    if (ScriptShim.hasScripts && ScriptStatements.isScript(sql)) script(variables.substitute(sql), next)
    else if (!StatementParser.mayBeOurs(sql)) next(sql)
    else {
      val statement =
        try Right(StatementParser.parse(variables.substitute(sql), unquote))
        catch { case e: StatementSyntaxError => Left(e) }
      statement match {
        case Right(s: TableStatement) => ofTable(s, sql, next)
        case Right(s)                 => plan(s, next)
        case Left(error)              =>
          try next(sql)
          catch { case e: ParseException if isBetterOurs(sql, e) => throw syntaxError(sql, error) }
      }
    }

  /**
   * Spark parses the script with placeholders instead of our statements. If it does not find each of
   * them as a statement, we have misread the script: then Spark's parser gets it as it is.
   */
  private def script(sql: String, next: String => LogicalPlan): LogicalPlan = {
    val places = ScriptStatements.places(sql)
    val plans = places.map { place =>
      val text = place.of(sql)
      val plan =
        if (isWellFormed(text)) DeferredStatement(text)(parseOr(_, next))
        else parseOr(text, next)
      ScriptStatement(plan, place.start, place.end - place.start)
    }
    if (plans.isEmpty) next(sql)
    else {
      val marks = ScriptStatements.marks(plans.size)
      val script = next(ScriptStatements.withPlaceholders(sql, places.zip(marks)))
      ScriptShim.replaced(script, marks.zip(plans).toMap, sql).getOrElse(next(sql))
    }
  }

  private def isWellFormed(sql: String): Boolean =
    try { StatementParser.parse(sql, unquote); true }
    catch { case _: StatementSyntaxError => false }

  private def ofTable(statement: TableStatement, sql: String, next: String => LogicalPlan): LogicalPlan = {
    val kind = Targets.kind(session, statement.target)
    def ours: LogicalPlan = plan(statement, next)
    if (Targets.isOurs(statement.target, kind)) ours
    else
      try next(sql) match {
          // For Spark, `DESCRIBE HISTORY a` asks for the column `a` of a table named `history`. The
          // same holds for DETAIL.
          case d: DescribeColumn               => if (hasRelation(d)) d else ours
          case _ if isNobodys(statement, kind) => ours
          case theirs                          => theirs
        }
      catch { case e: ParseException if isUnknown(e) || isNobodys(statement, kind) => ours }
  }

  private def hasRelation(plan: DescribeColumn): Boolean = plan.relation match {
    case u: UnresolvedTableOrView =>
      u.multipartIdentifier.size > 1 || Targets.relationExists(session, u.multipartIdentifier.head)
    case _ => true
  }

  private def isBetterOurs(sql: String, next: ParseException): Boolean =
    StatementParser.isOursAlone(sql) || StatementParser.isUnknownToSpark(sql) && isUnknown(next)

  /**
   * Whether the next parser does not know the statement at all. Any other error comes from a parser
   * that does.
   */
  private def isUnknown(e: ParseException): Boolean = e.getCondition == "PARSE_SYNTAX_ERROR"

  private def unquote(literal: String): String = delegate.parseExpression(literal) match {
    case Literal(value, _) => value.toString
    case other             => other.sql
  }

  private def syntaxError(sql: String, e: StatementSyntaxError): ParseException = {
    val place = new ParserRuleContext()
    place.start = e.at
    place.stop = e.at
    new ParseException(
      "PARSE_SYNTAX_ERROR",
      Map("error" -> e.near, "hint" -> s": spark-zorder takes ${StatementParser.form(sql)}"),
      place
    )
  }
}

object ZOrderParser {

  /** Whether the target of a shared statement cannot be a table of any table format. */
  private[parser] def isNobodys(statement: TableStatement, kind: TargetKind): Boolean = (statement, kind) match {
    case (_: SharedStatement, TargetKind.Foreign(_, ofSpark)) => ofSpark
    case _                                                    => false
  }
}
