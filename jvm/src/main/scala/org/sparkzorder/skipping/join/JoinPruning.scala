package org.sparkzorder.skipping.join

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.conf.ByteSizes
import org.sparkzorder.shim.{DynamicPruning, SparkShim}
import org.sparkzorder.skipping.{JoinFilters, PlannedFileIndex}

/**
 * The filters that the joins of a plan give to its scans.
 *
 * A join with equal keys drops a row of one side whose key no row of the other side has, if it is an inner join, or a
 * left semi join and the row is of its left side. Then a file without such a key gives no row to the join's result. The
 * filter goes down to the scan through nodes to which the row gives rows of its own, or none, or that treat rows of
 * equal keys alone. Spark's own filters go the same ways.
 *
 * @param ofTwins see [[DuplicateScans]]
 */
private final class JoinPruning(plan: LogicalPlan, ofTwins: JoinPruning.Filters => JoinPruning.Filters, conf: SQLConf)
    extends AliasHelper with JoinSelectionHelper {
  import JoinPruning._
  import DuplicateScans.{next, TreePath}

  def pruned: LogicalPlan = {
    val found = new Placing(_ => None)
    val placed = found.visit(plan, Nil)
    if (found.filters.isEmpty) plan
    else {
      val common = ofTwins(found.filters.toMap)
      if (common.isEmpty) placed else new Placing(common.get).visit(plan, Nil)
    }
  }

  /** Sides that filters of Spark have copies of. A copy must stay equal to its side. */
  private val copied: Set[LogicalPlan] = plan.flatMap(_.expressions.flatMap(_.collect {
    case d: DynamicPruningSubquery => d.buildQuery.canonicalized
  })).toSet

  private def broadcastSide(j: Join): Option[BuildSide] = {
    val strategies = Seq(j.hint.leftHint, j.hint.rightHint).flatten.flatMap(_.strategy)
    SparkShim.broadcastSide(this, j, hintOnly = true, conf)
      .orElse(if (strategies.exists(Others)) None else SparkShim.broadcastSide(this, j, hintOnly = false, conf))
  }

  /** Why a side cannot give a filter; None if its rows are always the same, and Spark reuses a copy's broadcast. */
  private def whyNot(side: LogicalPlan, keys: Seq[Expression]): Option[String] =
    if (!side.deterministic || side.exists(_.isInstanceOf[CTERelationRef])) Some("its rows may be others each time")
    else if (side.exists(_.isInstanceOf[CommandResult])) Some("it is the result of a command")
    else if (keys.exists(SubqueryExpression.hasSubquery)) Some("a key has a subquery")
    // Spark plans the scan of a copy without buckets, and it is not equal then.
    else if (side.exists(isBucketed)) Some("it is a table with buckets")
    else if (side.stats.sizeInBytes > MostBytes) Some(s"it has ${size(side)}, above ${ByteSizes.rounded(MostBytes)}")
    else None

  private def isBucketed(plan: LogicalPlan): Boolean = plan match {
    case l: LogicalRelation =>
      l.relation match {
        case r: HadoopFsRelation => r.bucketSpec.isDefined && conf.bucketingEnabled
        case _                   => false
      }
    case _ => false
  }

  private def size(side: LogicalPlan): String =
    "about " + ByteSizes.rounded(side.stats.sizeInBytes.min(BigInt(Long.MaxValue)).toLong)

  /** @param allowed the filters that the scan of a place may have; None if it may have all */
  private final class Placing(allowed: TreePath => Option[Set[Known]]) {
    val filters: mutable.Map[TreePath, Set[Known]] = mutable.Map.empty

    def visit(at: LogicalPlan, place: TreePath): LogicalPlan = at match {
      // Spark makes copies of these with new ids, or analyzes them again. The keys of a filter would keep the old ids.
      case d: CTERelationDef if !d.underSubquery                                                         => d
      case loop if loop.nodeName == "UnionLoop"                                                          => loop
      case _ if copied.nonEmpty && copied.contains(at.canonicalized)                                     => at
      case j @ ExtractEquiJoinKeys(_, left, right, _, _, _, _, _) if j.condition.forall(_.deterministic) =>
        val (l, r) = (next(j, place, 0), next(j, place, 1))
        val broadcast = broadcastSide(j)
        // The side that is broadcast stays as it is, so that the filter's copy of it is equal.
        val prunedLeft = broadcast.contains(BuildRight) && prunesLeft(j.joinType)
        val prunedRight = broadcast.contains(BuildLeft) && prunesRight(j.joinType)
        val made =
          if (prunedLeft) pruned(j.left, l, left, j.right, right).map(c => Seq(visit(c, l), j.right))
          else if (prunedRight) pruned(j.right, r, right, j.left, left).map(c => Seq(j.left, visit(c, r)))
          else None
        def unused(prunes: JoinType => Boolean, other: LogicalPlan) =
          if (!prunes(j.joinType)) s"rows without a partner stay in a ${named(j.joinType)} join"
          else s"Spark does not broadcast the other side, of ${size(other)}"
        if (!prunedLeft) say(j.left, l, left, unused(prunesLeft, j.right))
        if (!prunedRight) say(j.right, r, right, unused(prunesRight, j.left))
        made.fold(inside(j, place))(j.withNewChildren)
      case other => inside(other, place)
    }

    private def inside(at: LogicalPlan, place: TreePath): LogicalPlan =
      at.withNewChildren(at.children.zipWithIndex.map { case (c, i) => visit(c, next(at, place, i)) })

    /** A side with filters; None if it gets none. */
    private def pruned(
        side: LogicalPlan,
        place: TreePath,
        keys: Seq[Expression],
        broadcast: LogicalPlan,
        broadcastKeys: Seq[Expression]
    ): Option[LogicalPlan] = whyNot(broadcast, broadcastKeys) match {
      case Some(why) =>
        say(side, place, keys, s"the other side is not used: $why")
        None
      case None =>
        keys.indices.foldLeft(Option.empty[LogicalPlan]) { (made, i) =>
          down(made.getOrElse(side), place, asWritten(keys(i))) { (l, leaf, key) =>
            val normal = broadcastKeys.map(QueryPlan.normalizeExpressions(_, broadcast.output))
            val known = Known(QueryPlan.normalizeExpressions(key, l.output), broadcast.canonicalized, normal, i)
            val placed = filters.getOrElse(leaf, Set.empty)
            val isAllowed = allowed(leaf).forall(_(known))
            if (!PlannedFileIndex.of(l).exists(_.mayPrune(l, key))) {
              JoinFilters.note(l, key, "the index has no bounds for this key")
              None
            } else if (placed(known) || !isAllowed) {
              if (!isAllowed)
                JoinFilters.note(l, key, "the query reads the table twice in this way, and may read it once")
              None
            } else {
              filters(leaf) = placed + known
              Some(Filter(DynamicPruning.ofBroadcast(key, broadcast, broadcastKeys, i), l))
            }
          }.orElse(made)
        }
    }

    private def say(side: LogicalPlan, place: TreePath, keys: Seq[Expression], why: String): Unit = keys.foreach { k =>
      down(side, place, asWritten(k)) { (l, _, key) =>
        JoinFilters.note(l, key, why)
        None
      }
    }

    /** A plan with a filter right above the scan that has the columns of a key; None if it cannot go there. */
    private def down(at: LogicalPlan, place: TreePath, key: Expression)(
        make: (LogicalRelation, TreePath, Expression) => Option[LogicalPlan]
    ): Option[LogicalPlan] = {
      def into(i: Int, key: Expression) = down(at.children(i), next(at, place, i), key)(make)
      def inside(i: Int, key: Expression) = into(i, key).map(c => at.withNewChildren(at.children.updated(i, c)))
      def isOf(columns: Seq[Expression], key: Expression) =
        key.references.subsetOf(AttributeSet(columns.collect { case a: Attribute => a }))
      at match {
        case l: LogicalRelation if PlannedFileIndex.of(l).isDefined => make(l, place, key)
        case p: Project if p.projectList.forall(_.deterministic)    => inside(0, replaceAlias(key, getAliasMap(p)))
        case f: Filter if f.condition.deterministic                 => inside(0, key)
        // The rows of a group, or of a window's partition, have one key.
        case a: Aggregate if a.groupingExpressions.nonEmpty && a.aggregateExpressions.forall(_.deterministic) =>
          Some(replaceAlias(key, getAliasMap(a))).filter(isOf(a.groupingExpressions, _)).flatMap(inside(0, _))
        case w: Window if w.windowExpressions.forall(_.deterministic) && isOf(w.partitionSpec, key) => inside(0, key)
        case g: Generate if g.generator.deterministic && isOf(g.child.output, key)                  => inside(0, key)
        case u: Union if u.output.map(_.exprId).distinct.size == u.output.size                      =>
          val made = u.children.zipWithIndex.map { case (c, i) =>
            val names = AttributeMap(u.output.zip(c.output))
            into(i, key.transform { case a: Attribute => names.getOrElse(a, a) })
          }
          if (made.forall(_.isEmpty)) None
          else Some(u.withNewChildren(made.zip(u.children).map { case (m, c) => m.getOrElse(c) }))
        case j: Join if j.condition.forall(_.deterministic) =>
          val broadcast = broadcastSide(j)
          if (!broadcast.contains(BuildLeft) && isOf(j.left.output, key) && keepsLeftApart(j.joinType)) inside(0, key)
          else if (!broadcast.contains(BuildRight) && isOf(j.right.output, key) && keepsRightApart(j.joinType))
            inside(1, key)
          else None
        case _ => None
      }
    }
  }
}

private object JoinPruning {

  /** The driver gets a copy of the keys. */
  private val MostBytes = 32L << 20

  /** Hints that Spark follows before it looks at sizes. */
  private val Others: Set[JoinStrategyHint] = Set(SHUFFLE_MERGE, SHUFFLE_HASH, SHUFFLE_REPLICATE_NL)

  /** A filter without the ids of a plan: the scan's key, and the keys of the other side. */
  final case class Known(key: Expression, broadcast: LogicalPlan, keys: Seq[Expression], i: Int)

  type Filters = Map[DuplicateScans.TreePath, Set[Known]]

  private def named(joinType: JoinType): String = joinType match {
    case _: ExistenceJoin => "EXISTENCE"
    case other            => other.sql
  }

  private def prunesRight(joinType: JoinType): Boolean = joinType.isInstanceOf[InnerLike]

  /** Spark gives NaN and zero one form in keys. The index takes their forms for equal. */
  private def asWritten(key: Expression): Expression = key.transform {
    case KnownFloatingPointNormalized(NormalizeNaNAndZero(e)) => e
  }

  /** Whether a row on the left without a partner on the right gives no row. */
  private def prunesLeft(joinType: JoinType): Boolean = joinType.isInstanceOf[InnerLike] || joinType == LeftSemi

  /** Whether what comes of a row on the left does not depend on the others there. */
  private def keepsLeftApart(joinType: JoinType): Boolean =
    prunesLeft(joinType) || joinType == LeftOuter || joinType == LeftAnti || joinType.isInstanceOf[ExistenceJoin]

  private def keepsRightApart(joinType: JoinType): Boolean = joinType.isInstanceOf[InnerLike] || joinType == RightOuter
}
