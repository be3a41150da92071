package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{DataType, StructType}

/** Hands all but plans on to the next parser. `ParserShim` adds the methods that some versions of Spark lack. */
trait DelegatingParser extends ParserInterface {
  def delegate: ParserInterface

  /** The plan of a statement of ours, else what `next` makes of it; `next` is for queries inside of statements, too. */
  protected def parseOr(sql: String, next: String => LogicalPlan): LogicalPlan

  override def parsePlan(sqlText: String): LogicalPlan = parseOr(sqlText, delegate.parsePlan)

  override def parseExpression(sqlText: String): Expression = delegate.parseExpression(sqlText)
  override def parseTableIdentifier(sqlText: String): TableIdentifier = delegate.parseTableIdentifier(sqlText)
  override def parseFunctionIdentifier(sqlText: String): FunctionIdentifier = delegate.parseFunctionIdentifier(sqlText)
  override def parseMultipartIdentifier(sqlText: String): Seq[String] = delegate.parseMultipartIdentifier(sqlText)
  override def parseQuery(sqlText: String): LogicalPlan = delegate.parseQuery(sqlText)
  override def parseTableSchema(sqlText: String): StructType = delegate.parseTableSchema(sqlText)
  override def parseDataType(sqlText: String): DataType = delegate.parseDataType(sqlText)
}
