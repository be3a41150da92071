package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.parser.{ParameterContext, SqlStatementSplitResult, TemporalIdentifier}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StructType

/** What Spark 4.0, 4.1 and 4.3 add to its parser. */
trait ParserShim extends DelegatingParser {
  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)

  override def parsePlanWithParameters(sqlText: String, parameters: ParameterContext): LogicalPlan =
    parseOr(sqlText, delegate.parsePlanWithParameters(_, parameters))

  override def parseTemporalTableIdentifier(sqlText: String): TemporalIdentifier =
    delegate.parseTemporalTableIdentifier(sqlText)
  override def splitStatements(sqlText: String): SqlStatementSplitResult = delegate.splitStatements(sqlText)
}
