package org.sparkzorder.command

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import org.sparkzorder.statement._

object StatementPlanner {
  def plan(statement: Statement, parseQuery: String => LogicalPlan): LogicalPlan = statement match {
    case s: TableStatement                               => plan(s)
    case ShowClusteringStatement(name)                   => ShowClusteringCommand(name)
    case ShowOperationsStatement                         => ShowOperations
    case ExplainSkippingStatement(query, files, analyze) =>
      if (files) ExplainSkippingFilesCommand(parseQuery(query)) else ExplainSkippingCommand(parseQuery(query), analyze)
  }

  def plan(statement: TableStatement): LogicalPlan = statement match {
    case s: OptimizeStatement              => OptimizeCommand(s)
    case s: CreateSkippingIndexStatement   => CreateSkippingIndexCommand(s.target, s.columns, s.all, s.replace)
    case s: RefreshSkippingIndexStatement  => RefreshSkippingIndexCommand(s.target)
    case s: DropSkippingIndexStatement     => DropSkippingIndexCommand(s.target)
    case s: ClearSkippingMemoryStatement   => ClearSkippingMemoryCommand(s.target)
    case s: DescribeSkippingIndexStatement => DescribeSkippingIndex(s.target, s.columns)
    case s: DescribeHistoryStatement       => DescribeHistoryCommand(s.target)
    case s: DescribeDetailStatement        => DescribeDetailCommand(s.target)
    case s: DescribeClusteringStatement    => DescribeClusteringCommand(s.target, s.columns)
    case s: RestoreStatement               => RestoreCommand(s)
    case s: VacuumStatement                => VacuumCommand(s.target, s.retainHours, s.dryRun)
  }
}
