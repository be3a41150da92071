package org.sparkzorder.parser

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedTableOrView}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.{DescribeColumn, LogicalPlan}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.internal.{SQLConf, VariableSubstitution}

import org.sparkzorder.shim.{ParserShim, SparkShim}
import org.sparkzorder.statement._
import org.sparkzorder.table.{TargetKind, Targets}

/**
 * Parses our statements and hands every other text to the next parser.
 *
 * Table formats have some statements of ours, too, such as OPTIMIZE, VACUUM and DESCRIBE HISTORY. Such a statement is
 * ours only if its table is. Otherwise the next parser gets the unchanged text. If that parser does not know the
 * statement either, our error says why the table is refused. The parser of a table format takes such a statement for
 * any name. So if the name cannot be a table of a format, for example a view, our error comes at once.
 *
 * @param plan makes the plan of one of our statements
 */
class ZOrderParser(session: SparkSession, val delegate: ParserInterface, plan: StatementPlan) extends ParserShim {

  private val variables = new VariableSubstitution

  override protected def parseOr(sql: String, next: String => LogicalPlan): LogicalPlan =
    if (!StatementParser.mayBeOurs(sql))
      try next(sql)
      catch { case e: ParseException if StatementParser.isScript(sql) => throw inScript(variables.substitute(sql), e) }
    else {
      val statement =
        try Right(statementOf(variables.substitute(sql), next))
        catch { case e: StatementSyntaxError => Left(e) }
      statement match {
        case Right(s: TableStatement) => ofTable(s, sql, next)
        case Right(s)                 => plan(s, next)
        case Left(error)              =>
          try next(sql)
          catch {
            case e: ParseException if isBetterOurs(sql, e) =>
              throw SyntaxErrors.at(error.at, s": spark-zorder takes ${StatementParser.form(sql)}")
          }
      }
    }

  /** Spark parses a script as a whole, and gives one of our statements up at one of its first words. */
  private def inScript(sql: String, e: ParseException): ParseException = {
    val at = StatementParser.tokenAt(sql, e.start.line.getOrElse(1), e.start.startPosition.getOrElse(0))
    StatementParser.oursAround(sql, at).fold(e) { word =>
      SyntaxErrors.at(at, s": a script runs a statement of spark-zorder by EXECUTE IMMEDIATE '$word ..'")
    }
  }

  private def statementOf(sql: String, next: String => LogicalPlan): Statement = StatementParser.parse(
    sql,
    unquote,
    (text, start) => new Predicate(text, PredicateParser.read(sql, text, start, next))
  )

  private def ofTable(statement: TableStatement, sql: String, next: String => LogicalPlan): LogicalPlan = {
    val kind = Targets.kind(session, statement.target)
    def ours: LogicalPlan = statement match {
      case s: OptimizeStatement => ParameterizedStatement.planned(s, plan(_, next))
      case s                    => plan(s, next)
    }
    ofColumn(statement, next(sql)).getOrElse {
      if (Targets.isOurs(statement.target, kind)) ours
      else
        try next(sql) match {
            case _: DescribeColumn               => ours
            case _ if isNobodys(statement, kind) => ours
            case theirs                          => theirs
          }
        catch { case e: ParseException if isUnknown(e) || isNobodys(statement, kind) => ours }
    }
  }

  /**
   * For Spark, `DESCRIBE HISTORY a` asks for the column `a` of a table named `history`. That is what
   * it means if there is such a table and it has the column. The same holds for DETAIL and CLUSTERING.
   */
  private def ofColumn(statement: TableStatement, sparks: => LogicalPlan): Option[LogicalPlan] = statement match {
    case _: DescribeHistoryStatement | _: DescribeDetailStatement | _: DescribeClusteringStatement =>
      try Some(sparks).collect { case d: DescribeColumn if hasColumn(d) => d }
      catch { case _: ParseException => None }
    case _ => None
  }

  private def hasColumn(plan: DescribeColumn): Boolean = (plan.relation, plan.column) match {
    case (table: UnresolvedTableOrView, UnresolvedAttribute(Seq(column))) =>
      val parts = table.multipartIdentifier
      // A table that cannot be read is left to Spark, which says why.
      parts.size > 1 || Targets.relationExists(session, parts.head) &&
      Try(session.table(quoteNameParts(parts)).columns).toOption.forall(_.exists(SQLConf.get.resolver(_, column)))
    case _ => false
  }

  private def isBetterOurs(sql: String, next: ParseException): Boolean =
    StatementParser.isOursAlone(sql) || StatementParser.isUnknownToSpark(sql) && isUnknown(next)

  /** Whether the next parser does not know the statement at all. Any other error comes from a parser that does. */
  private def isUnknown(e: ParseException): Boolean = SparkShim.conditionOf(e) == "PARSE_SYNTAX_ERROR"

  private def unquote(literal: String): String = delegate.parseExpression(literal) match {
    case Literal(value, _) => value.toString
    case other             => other.sql
  }

  /** Whether the target of a shared statement cannot be a table of any table format. */
  private def isNobodys(statement: TableStatement, kind: TargetKind): Boolean = (statement, kind) match {
    case (_: SharedStatement, TargetKind.Foreign(_, ofSpark)) => ofSpark
    case _                                                    => false
  }
}

/** Makes the plan of a statement. The parser receives it as an argument, so that it does not depend on the commands. */
trait StatementPlan {

  /** @param parseQuery parses the query inside a statement */
  def apply(statement: Statement, parseQuery: String => LogicalPlan): LogicalPlan
}
