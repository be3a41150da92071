package org.sparkzorder.skipping.answer

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Subquery}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.zorder.SparkOwn.ConfigEntry

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.skipping.{SkippingErrors, SkippingStrategy}

/** A rule that asks the index about whole files. If it cannot tell, or fails, the plan is Spark's own. */
abstract class AnswerRule(enabled: ConfigEntry[Boolean]) extends Rule[LogicalPlan] {

  final override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    // Spark makes a join of it, looks at it for what it gives without rows, and then optimizes it again.
    case s: Subquery if s.correlated                                              => plan
    case _ if !conf.getConf(ZOrderConf.skippingEnabled) || !conf.getConf(enabled) => plan
    // Only our strategy reads the chosen files as they were listed, and with all their rows.
    case _ if !SkippingStrategy.isIn(SparkSession.active) => plan
    case _ => plan.transformUp { case node => orSame(node)(answered(node, plan.isInstanceOf[Subquery])) }
  }

  /**
   * What comes in place of a node; None if it stays.
   *
   * @param inSubquery whether the node is a part of a scalar subquery, or of a similar one
   */
  protected def answered(node: LogicalPlan, inSubquery: Boolean): Option[LogicalPlan]

  private def orSame(node: LogicalPlan)(made: => Option[LogicalPlan]): LogicalPlan =
    try made.getOrElse(node)
    catch {
      case NonFatal(e) =>
        SkippingErrors.warn(
          node.collectLeaves().collect { case l: LogicalRelation => l.relation }
            .collect { case r: HadoopFsRelation => r.location.rootPaths }.flatten,
          e
        )
        node
    }
}
