package org.sparkzorder.skipping.join

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.{DynamicPruningSubquery, ScalarSubquery}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Subquery}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{JOIN, PLAN_EXPRESSION}
import org.apache.spark.sql.execution.datasources.LogicalRelation

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.skipping.{JoinFilters, PlannedFileIndex, SkippingErrors}

/**
 * Lets scans leave out files by the keys of joins, as Spark's dynamic pruning does with partitions. A scan gets a
 * filter that the rows of the other side decide, if these are broadcast for the join anyway. So they cost no job of
 * their own.
 *
 * The rule comes after all of Spark's. Those about partitions would not touch a join that has such a filter.
 */
object JoinPruningRule extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    // Spark still merges subqueries that are alike. They get their filters as a part of the query.
    case _: Subquery                                          => plan
    case _ if !plan.containsAnyPattern(JOIN, PLAN_EXPRESSION) => plan
    case _ if !isOn || plan.isStreaming || isPruned(plan)     => plan
    case _                                                    =>
      try {
        val scans = DuplicateScans.count(plan)
        if (scans.isEmpty) plan else everywhere(plan, scans)
      } catch {
        case NonFatal(e) =>
          SkippingErrors.warn(Nil, e)
          plan
      }
  }

  private def isOn: Boolean = conf.getConf(ZOrderConf.skippingEnabled) && conf.getConf(ZOrderConf.joinsEnabled) &&
    conf.dynamicPartitionPruningEnabled && conf.exchangeReuseEnabled

  /** Spark runs these rules until nothing changes. */
  private def isPruned(plan: LogicalPlan): Boolean = plan.exists {
    case Filter(condition, l: LogicalRelation) if PlannedFileIndex.of(l).isDefined =>
      condition.exists { case d: DynamicPruningSubquery => JoinFilters.isOne(d, l); case _ => false }
    case other => other.expressions.exists(_.exists { case s: ScalarSubquery => isPruned(s.plan); case _ => false })
  }

  /** Subqueries come first. Then a filter's copy of a side has the same ones. */
  private def everywhere(plan: LogicalPlan, scans: Map[LogicalPlan, Int]): LogicalPlan =
    new JoinPruning(inSubqueries(plan, scans), DuplicateScans.ofTwins(plan, scans)(_), conf).pruned

  private def inSubqueries(plan: LogicalPlan, scans: Map[LogicalPlan, Int]): LogicalPlan =
    plan.transformAllExpressions {
      case s: ScalarSubquery         => s.withNewPlan(everywhere(s.plan, scans))
      case d: DynamicPruningSubquery => d.withNewPlan(inSubqueries(d.buildQuery, scans))
    }
}
