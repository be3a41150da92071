package org.sparkzorder.skipping.join

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{DynamicPruningSubquery, ScalarSubquery}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.execution.datasources.LogicalRelation

import org.sparkzorder.skipping.{JoinFilters, PlannedFileIndex}

/**
 * The scans of a plan that have a twin: an equal scan in the same query. Both may be below exchanges of which Spark
 * makes one. So they only get filters that both have.
 */
private object DuplicateScans {

  /**
   * @param plan one of a query's plans
   * @param inQuery how often each scan is in the query and all its subqueries
   * @param filters those of each scan
   * @return the filters that each scan with a twin may have, by its place
   */
  def ofTwins[F](
      plan: LogicalPlan,
      inQuery: Map[LogicalPlan, Int]
  )(filters: Map[TreePath, Set[F]]): Map[TreePath, Set[F]] =
    scansOf(plan).groupBy(_._2).toSeq.flatMap { case (scan, of) =>
      def common = of.map { case (place, _) => filters.getOrElse(place, Set.empty[F]) }.reduce(_ intersect _)
      if (inQuery.getOrElse(scan, 0) > of.size) of.map(_._1 -> Set.empty[F])
      else if (of.size > 1) of.map(_._1 -> common)
      else Nil
    }.toMap

  /** The way from a plan to one of its leaves, by the ordinals of children, the last one first. */
  type TreePath = List[Int]

  /** Filters come in between, so they are not counted. */
  def next(parent: LogicalPlan, place: TreePath, child: Int): TreePath =
    if (parent.isInstanceOf[Filter]) place else child :: place

  /** How often each indexed scan is in a query, its subqueries, and the sides that its filters have copies of. */
  def count(query: LogicalPlan): Map[LogicalPlan, Int] = {
    val counts = mutable.Map.empty[LogicalPlan, Int].withDefaultValue(0)
    def add(plan: LogicalPlan): Unit = {
      scansOf(plan).foreach { case (_, scan) => counts(scan) += 1 }
      plan.foreach(_.expressions.foreach(_.foreach {
        case s: ScalarSubquery         => add(s.plan)
        case d: DynamicPruningSubquery => add(d.buildQuery)
        case _                         => ()
      }))
    }
    add(query)
    counts.toMap
  }

  /** The indexed scans with their projections and filters, without ids of the plan. */
  private def scansOf(plan: LogicalPlan): Seq[(TreePath, LogicalPlan)] = {
    val scans = mutable.Buffer.empty[(TreePath, LogicalPlan)]
    def collect(at: LogicalPlan, place: TreePath): Unit = at match {
      case operation @ PhysicalOperation(_, _, l: LogicalRelation) =>
        // Spark's filters of joins may turn out to be true.
        def own = JoinFilters.without(operation)(_.isInstanceOf[DynamicPruningSubquery])
        if (PlannedFileIndex.of(l).isDefined) scans += leaf(operation, place) -> own.canonicalized
      case other => other.children.zipWithIndex.foreach { case (c, i) => collect(c, next(other, place, i)) }
    }
    collect(plan, Nil)
    scans.toSeq
  }

  /** The place of the scan below filters and projections. */
  private def leaf(operation: LogicalPlan, place: TreePath): TreePath =
    operation.children.headOption.fold(place)(leaf(_, next(operation, place, 0)))
}
