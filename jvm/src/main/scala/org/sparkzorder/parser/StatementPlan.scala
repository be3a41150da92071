package org.sparkzorder.parser

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import org.sparkzorder.statement.Statement

/** Plans a statement. The parser is given one, and so knows no commands. */
trait StatementPlan {

  /** @param parseQuery for the query inside a statement */
  def apply(statement: Statement, parseQuery: String => LogicalPlan): LogicalPlan
}
