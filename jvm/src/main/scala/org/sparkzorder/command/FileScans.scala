package org.sparkzorder.command

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{
  DynamicPruningSubquery,
  Expression,
  PredicateHelper,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import org.sparkzorder.skipping.{AnsweredScan, RecordedQueries}

/**
 * A scan of files in a query.
 *
 * @param filters conjuncts directly above it
 * @param later conjuncts that other operators keep away from it
 */
private[command] final case class QueryScan(leaf: LogicalPlan, filters: Seq[Expression], later: Seq[Expression])

private[command] object FileScans extends PredicateHelper {

  /** The scans of a query and of its subqueries, in the order of the plan. The query does not run. */
  def of(session: SparkSession, query: LogicalPlan): Seq[QueryScan] = {
    val state = session.asInstanceOf[classic.SparkSession].sessionState
    // Without SKIP, an INSERT or a DROP would run here, and its plan would be that of its result.
    scans(RecordedQueries.paused(state.executePlan(query, CommandExecutionMode.SKIP).optimizedPlan), Nil)
  }

  /** @param later conjuncts above this plan that are about its rows */
  private def scans(plan: LogicalPlan, later: Seq[Expression]): Seq[QueryScan] =
    plan match {
      case PhysicalOperation(_, filters, leaf) if isScan(leaf) =>
        QueryScan(leaf, filters, later) +:
          plan.collect { case p if p ne leaf => p.expressions }.flatten.flatMap(inSubqueries)
      case Filter(condition, child) =>
        scans(child, splitConjunctivePredicates(condition) ++ later) ++ inSubqueries(condition)
      case Project(list, child) => scans(child, later) ++ list.flatMap(inSubqueries)
      case other                => other.children.flatMap(scans(_, Nil)) ++ other.expressions.flatMap(inSubqueries)
    }

  private def inSubqueries(e: Expression): Seq[QueryScan] =
    e.collect { case s: SubqueryExpression if !isOfBroadcast(s) => s.plan }.flatMap(scans(_, Nil))

  /** Whether it only takes the rows that a join broadcasts. Its plan is a copy of the join's side and reads nothing. */
  private def isOfBroadcast(s: SubqueryExpression): Boolean = s match {
    case d: DynamicPruningSubquery => d.onlyInBroadcast
    case _                         => false
  }

  private def isScan(leaf: LogicalPlan): Boolean = leaf match {
    case l: LogicalRelation          => l.relation.isInstanceOf[HadoopFsRelation]
    case l: LocalRelation            => l.getTagValue(AnsweredScan.Tag).isDefined
    case _: DataSourceV2ScanRelation => true
    case _                           => false
  }
}
