package org.sparkzorder.parser

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import org.sparkzorder.statement.Statement

/**
 * Makes the plan of a statement. The parser receives it as an argument, so that it does not depend
 * on the commands.
 */
trait StatementPlan {

  /** @param parseQuery parses the query inside a statement */
  def apply(statement: Statement, parseQuery: String => LogicalPlan): LogicalPlan
}
