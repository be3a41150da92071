package org.sparkzorder.skipping

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.scan.{ExchangeAwareFileIndex, ExchangeAwareListing, PresentFiles}
import org.sparkzorder.table.{RecoveryErrors, SparkFormat}
import org.sparkzorder.write.FixedFileIndex

/**
 * Gives every scan of a plain table with a `_zorder` folder a [[PlannedFileIndex]]. From this index
 * [[SkippingStrategy]] later leaves out the files that cannot hold a matching row. The plan of a table without that
 * folder stays Spark's.
 *
 * The rule runs before join planning, which then sees the smaller size. It also runs before Spark prunes partitions,
 * which would not know our index, so it calls Spark's pruning first.
 */
class SkippingRule(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val pruned = SparkOwn.withPartitionsPruned(plan.transform { case l: LogicalRelation if eligible(l) => restored(l) })
    through(pruned)
  }

  // Does not go below a match: the outermost match has all filters.
  private def through(plan: LogicalPlan): LogicalPlan = plan match {
    case operation @ PhysicalOperation(_, filters, l: LogicalRelation) if eligible(l) =>
      val after = planned(l, filters).getOrElse(checked(l))
      if (after eq l) operation else operation.transformUp { case leaf if leaf eq l => after }
    case other => other.mapChildren(through)
  }

  private def eligible(l: LogicalRelation): Boolean = l.relation match {
    case r: HadoopFsRelation =>
      SparkFormat.of(r).isDefined && !l.isStreaming && !r.location.isInstanceOf[FixedFileIndex] &&
      !r.location.isInstanceOf[ReportingIndex]
    case _ => false
  }

  /** The scan without this rule's index. The rule may have seen it in a subquery, before it got its present filters. */
  private def restored(l: LogicalRelation): LogicalRelation = l.relation match {
    case r @ HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _) =>
      replaced(l, r, planned.original, planned.table, None)
    case r @ HadoopFsRelation(ExchangeAwareFileIndex(base), _, _, _, _, _) => replaced(l, r, base, l.catalogTable, None)
    case _                                                                 => l
  }

  /** Replaces the index only. The filters stay above the scan, and the optimizer estimates rows by them. */
  private def replaced(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      by: FileIndex,
      table: Option[CatalogTable],
      size: Option[Long]
  ): LogicalRelation = {
    val sized = table.map(t => size.fold(t)(s => t.copy(stats = t.stats.map(_.copy(sizeInBytes = BigInt(s))))))
    l.copy(relation = relation.copy(location = by)(relation.sparkSession), catalogTable = sized)
  }

  /** A scan of all partitions of the catalog, which Spark lists when the query runs. */
  private def checked(l: LogicalRelation): LogicalRelation = (l.relation, l.catalogTable) match {
    case (r @ HadoopFsRelation(all: CatalogFileIndex, _, _, _, _, _), Some(t)) if t.partitionColumnNames.nonEmpty =>
      replaced(l, r, ExchangeAwareFileIndex(session, all, r.options, t), l.catalogTable, None)
    case _ => l
  }

  private def planned(l: LogicalRelation, filters: Seq[Expression]): Option[LogicalRelation] = {
    val relation = l.relation.asInstanceOf[HadoopFsRelation]
    // A setting that is wrong must not turn views off.
    conf.getConf(ZOrderConf.lockTimeoutSeconds)
    // While an operation is half published, a query without its views would read the files as they are now.
    var mustUseViews = false
    def name(table: Path) = l.catalogTable.fold(RecoveryErrors.quoted(table))(_.identifier.quotedString)
    @tailrec def attempt(left: Int): Option[LogicalRelation] =
      PresentFiles.of(session, relation.location, relation.options, relation.dataSchema, l.catalogTable) match {
        case None      => None
        case Some(now) =>
          mustUseViews = now.corrects
          val made = indexed(l, relation, filters, now)
          // The partitions of a catalog's table were listed after the look at the table, and its listing is kept.
          val moved = if (relation.location.isInstanceOf[CatalogFileIndex]) now.views.find(_.isMoved) else None
          moved match {
            case None                => made
            case Some(_) if left > 0 => attempt(left - 1)
            case Some(table)         => throw ExchangeAwareListing.unsettled(table.root)
          }
      }
    try RecoveryErrors.translateErrors(name)(attempt(ExchangeAwareListing.MostLooks))
    catch {
      case e: ZOrderRuntimeException    => throw e
      case NonFatal(e) if !mustUseViews =>
        SkippingErrors.warn(relation.location.rootPaths, e)
        None
    }
  }

  /** The scan with a [[PlannedFileIndex]]; None if it has nothing to skip and nothing to correct. */
  private def indexed(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      filters: Seq[Expression],
      now: PresentFiles
  ): Option[LogicalRelation] = {
    val enabled = conf.getConf(ZOrderConf.skippingEnabled)
    if (now.moved.isEmpty && !enabled && !now.corrects) None
    else {
      if (enabled && filters.nonEmpty && !SkippingStrategy.isIn(session)) SkippingErrors.withoutStrategy()
      val index = new PlannedFileIndex(now.index, relation.location, now.views, l.catalogTable, enabled)
      Some(replaced(l, relation, index, l.catalogTable, index.estimate(l, filters, now.listing)))
    }
  }
}
