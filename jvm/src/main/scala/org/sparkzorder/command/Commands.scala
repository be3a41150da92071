package org.sparkzorder.command

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import org.sparkzorder.parser._

/** Statements to the commands that carry them out. */
object Commands {

  /** @param parse for queries inside of statements */
  def of(statement: Statement, parse: String => LogicalPlan): LogicalPlan = statement match {
    case s: TableStatement               => ofTable(s)
    case ExplainSkippingStatement(query) => ExplainSkippingCommand(parse(query))
  }

  def ofTable(statement: TableStatement): LogicalPlan = statement match {
    case s: OptimizeStatement              => OptimizeCommand(s)
    case s: CreateSkippingIndexStatement   => CreateSkippingIndexCommand(s.target, s.columns, s.replace)
    case s: RefreshSkippingIndexStatement  => RefreshSkippingIndexCommand(s.target)
    case s: DropSkippingIndexStatement     => DropSkippingIndexCommand(s.target)
    case s: DescribeSkippingIndexStatement => DescribeSkippingIndexCommand(s.target, s.columns)
    case s: DescribeHistoryStatement       => DescribeHistoryCommand(s.target)
    case s: DescribeDetailStatement        => DescribeDetailCommand(s.target)
    case s: DescribeClusteringStatement    => DescribeClusteringCommand(s.target, s.columns)
    case s: RestoreStatement               => RestoreCommand(s.target, s.to)
    case s: VacuumStatement                => VacuumCommand(s.target, s.retainHours, s.dryRun)
  }
}
