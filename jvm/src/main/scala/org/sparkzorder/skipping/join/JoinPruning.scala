package org.sparkzorder.skipping.join

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, JoinSelectionHelper, NormalizeNaNAndZero}
import org.apache.spark.sql.catalyst.planning.{ExtractEquiJoinKeys, PhysicalOperation}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.shim.{DynamicPruning, SparkShim}
import org.sparkzorder.skipping.PlannedFileIndex

/**
 * The filters that the joins of a plan give to its scans.
 *
 * A join with equal keys drops a row of one side whose key no row of the other side has, if it is an inner join, or a
 * left semi join and the row is of its left side. Then a file without such a key gives no row to the join's result. The
 * filter goes down to the scan through nodes to which the row gives rows of its own, or none, or that treat rows of equal
 * keys alone. Spark's own filters go the same ways.
 */
private final class JoinPruning(plan: LogicalPlan, conf: SQLConf) extends AliasHelper with JoinSelectionHelper {
  import JoinPruning._

  /** The plan with these filters. */
  def pruned: LogicalPlan = {
    val found = new Placing(_ => None)
    val placed = found.visit(plan, Nil)
    if (found.filters.isEmpty) plan
    else {
      val common = ofTwins(found.filters)
      if (common.isEmpty) placed else new Placing(common.get).visit(plan, Nil)
    }
  }

  /**
   * Two equal scans may be below exchanges of which Spark makes one. They only get the filters that both have.
   *
   * @param filters those of each scan
   * @return the filters that each scan with a twin may have, by its place
   */
  private def ofTwins(filters: collection.Map[Place, Set[Known]]): Map[Place, Set[Known]] = {
    val scans = mutable.Buffer.empty[(Place, LogicalPlan)]
    def collect(at: LogicalPlan, place: Place): Unit = at match {
      case operation @ PhysicalOperation(_, _, l: LogicalRelation) =>
        if (PlannedFileIndex.of(l).isDefined) scans += below(operation, place) -> operation.canonicalized
      case other => other.children.zipWithIndex.foreach { case (c, i) => collect(c, next(other, place, i)) }
    }
    collect(plan, Nil)
    scans.groupBy(_._2).values.filter(_.size > 1).flatMap { twins =>
      val common = twins.map { case (place, _) => filters.getOrElse(place, Set.empty) }.reduce(_ intersect _)
      twins.map { case (place, _) => place -> common }
    }.toMap
  }

  /** The place of the leaf below. */
  private def below(operation: LogicalPlan, place: Place): Place =
    operation.children.headOption.fold(place)(below(_, next(operation, place, 0)))

  /** @param allowed the filters that the scan of a place may have; None if it may have all */
  private final class Placing(allowed: Place => Option[Set[Known]]) {
    val filters: mutable.Map[Place, Set[Known]] = mutable.Map.empty

    def visit(at: LogicalPlan, place: Place): LogicalPlan = at match {
      case j @ ExtractEquiJoinKeys(_, left, right, _, _, _, _, _) if j.condition.forall(_.deterministic) =>
        // The side that is broadcast stays as it is, so that the filter's copy of it is equal.
        SparkShim.broadcastSide(JoinPruning.this, j, conf) match {
          case Some(BuildRight) if prunesLeft(j.joinType) && j.right.deterministic =>
            val side = next(j, place, 0)
            j.withNewChildren(Seq(visit(pruned(j.left, side, left, j.right, right), side), j.right))
          case Some(BuildLeft) if j.joinType == Inner && j.left.deterministic =>
            val side = next(j, place, 1)
            j.withNewChildren(Seq(j.left, visit(pruned(j.right, side, right, j.left, left), side)))
          case _ => inside(j, place)
        }
      case other => inside(other, place)
    }

    private def inside(at: LogicalPlan, place: Place): LogicalPlan =
      at.withNewChildren(at.children.zipWithIndex.map { case (c, i) => visit(c, next(at, place, i)) })

    private def pruned(
        side: LogicalPlan,
        place: Place,
        keys: Seq[Expression],
        broadcast: LogicalPlan,
        broadcastKeys: Seq[Expression]
    ): LogicalPlan = keys.indices.foldLeft(side) { (made, i) =>
      down(made, place, asWritten(keys(i))) { (l, leaf, key) =>
        val normal = broadcastKeys.map(QueryPlan.normalizeExpressions(_, broadcast.output))
        val known = Known(QueryPlan.normalizeExpressions(key, l.output), broadcast.canonicalized, normal, i)
        if (allowed(leaf).forall(_(known))) {
          filters(leaf) = filters.getOrElse(leaf, Set.empty) + known
          Some(Filter(DynamicPruning.ofBroadcast(key, broadcast, broadcastKeys, i), l))
        } else None
      }.getOrElse(made)
    }

    /** A plan with a filter right above the scan that has the columns of a key; None if it cannot go there. */
    private def down(at: LogicalPlan, place: Place, key: Expression)(
        make: (LogicalRelation, Place, Expression) => Option[LogicalPlan]
    ): Option[LogicalPlan] = at match {
      case l: LogicalRelation => if (PlannedFileIndex.of(l).exists(_.mayPrune(l, key))) make(l, place, key) else None
      case p: Project if p.projectList.forall(_.deterministic) =>
        val replaced = replaceAlias(key, getAliasMap(p))
        down(p.child, next(p, place, 0), replaced)(make).map(c => p.copy(child = c))
      case f: Filter if f.condition.deterministic =>
        down(f.child, next(f, place, 0), key)(make).map(c => f.copy(child = c))
      // The rows of a group, or of a window's partition, have one key.
      case a: Aggregate if a.groupingExpressions.nonEmpty && a.aggregateExpressions.forall(_.deterministic) =>
        val replaced = replaceAlias(key, getAliasMap(a))
        if (!replaced.references.subsetOf(AttributeSet(a.groupingExpressions.collect { case g: Attribute => g }))) None
        else down(a.child, next(a, place, 0), replaced)(make).map(c => a.copy(child = c))
      case w: Window if w.windowExpressions.forall(_.deterministic) =>
        if (!key.references.subsetOf(AttributeSet(w.partitionSpec.collect { case p: Attribute => p }))) None
        else down(w.child, next(w, place, 0), key)(make).map(c => w.copy(child = c))
      case g: Generate if g.generator.deterministic && key.references.subsetOf(g.child.outputSet) =>
        down(g.child, next(g, place, 0), key)(make).map(c => g.copy(child = c))
      case u: Union =>
        val made = u.children.zipWithIndex.map { case (c, i) =>
          val names = AttributeMap(u.output.zip(c.output))
          down(c, next(u, place, i), key.transform { case a: Attribute => names.getOrElse(a, a) })(make)
        }
        if (made.forall(_.isEmpty)) None
        else Some(u.copy(children = made.zip(u.children).map { case (m, c) => m.getOrElse(c) }))
      case j: Join if j.condition.forall(_.deterministic) =>
        val broadcast = SparkShim.broadcastSide(JoinPruning.this, j, conf)
        def into(i: Int) = down(j.children(i), next(j, place, i), key)(make)
        if (broadcast != Some(BuildLeft) && key.references.subsetOf(j.left.outputSet) && keepsLeftApart(j.joinType))
          into(0).map(c => j.withNewChildren(Seq(c, j.right)))
        else if (
          broadcast != Some(BuildRight) && key.references.subsetOf(j.right.outputSet) && keepsRightApart(j.joinType)
        ) into(1).map(c => j.withNewChildren(Seq(j.left, c)))
        else None
      case _ => None
    }
  }
}

private object JoinPruning {

  /** A filter without the ids of a plan: the scan's key, and the keys of the other side. */
  private final case class Known(key: Expression, broadcast: LogicalPlan, keys: Seq[Expression], i: Int)

  /** The way from a plan to one of its leaves, by the ordinals of children, the last one first. */
  private type Place = List[Int]

  /** Filters come in between, so they are not counted. */
  private def next(parent: LogicalPlan, place: Place, child: Int): Place =
    if (parent.isInstanceOf[Filter]) place else child :: place

  /** Spark gives NaN and zero one form in keys. The index takes their forms for equal. */
  private def asWritten(key: Expression): Expression = key.transform {
    case KnownFloatingPointNormalized(NormalizeNaNAndZero(e)) => e
  }

  /** Whether a row on the left without a partner on the right gives no row. */
  private def prunesLeft(joinType: JoinType): Boolean = joinType == Inner || joinType == LeftSemi

  /** Whether what comes of a row on the left does not depend on the others there. */
  private def keepsLeftApart(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | LeftOuter | LeftSemi | LeftAnti | _: ExistenceJoin => true
    case _                                                                 => false
  }

  private def keepsRightApart(joinType: JoinType): Boolean = joinType match {
    case _: InnerLike | RightOuter => true
    case _                         => false
  }
}
