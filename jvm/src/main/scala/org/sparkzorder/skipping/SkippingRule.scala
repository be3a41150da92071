package org.sparkzorder.skipping

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{
  CatalogFileIndex,
  FileIndex,
  HadoopFsRelation,
  LogicalRelation,
  PartitioningAwareFileIndex
}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.table.{RecoveryErrors, SparkFormat}
import org.sparkzorder.write.FixedFileIndex

/**
 * Gives every scan of a plain table with a `_zorder` folder a [[PlannedFileIndex]]. From this index [[SkippingStrategy]]
 * later leaves out the files that cannot hold a matching row.
 *
 * The rule runs before join planning, which then sees the smaller size. It also runs before Spark prunes partitions,
 * which would not know our index, so it calls Spark's pruning first.
 */
class SkippingRule(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = through(SparkOwn.withPartitionsPruned(plan.transform {
    case l: LogicalRelation if eligible(l) => restored(l)
  }))

  // Does not go below a match: the outermost match has all filters.
  private def through(plan: LogicalPlan): LogicalPlan = plan match {
    case operation @ PhysicalOperation(_, filters, l: LogicalRelation) if eligible(l) =>
      val after = planned(l, filters).getOrElse(checked(l))
      if (after eq l) operation else operation.transformUp { case leaf if leaf eq l => after }
    case other => other.mapChildren(through)
  }

  private def eligible(l: LogicalRelation): Boolean = l.relation match {
    case r: HadoopFsRelation =>
      SparkFormat.of(r).isDefined && !l.isStreaming && !r.location.isInstanceOf[FixedFileIndex]
    case _ => false
  }

  /** The scan without this rule's index. The rule may have seen it in a subquery, before it got its present filters. */
  private def restored(l: LogicalRelation): LogicalRelation = l.relation match {
    case r @ HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _) =>
      replaced(l, r, planned.original, planned.table, None)
    case r @ HadoopFsRelation(checked: CheckedFileIndex, _, _, _, _, _) =>
      replaced(l, r, checked.base, l.catalogTable, None)
    case _ => l
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

  /** A scan of all partitions of the catalog, whose folders are known only when they are listed. */
  private def checked(l: LogicalRelation): LogicalRelation = (l.relation, l.catalogTable) match {
    case (r @ HadoopFsRelation(all: CatalogFileIndex, _, _, _, _, _), Some(t)) if t.partitionColumnNames.nonEmpty =>
      replaced(l, r, new CheckedFileIndex(session, all, r.options, t), l.catalogTable, None)
    case _ => l
  }

  private def planned(l: LogicalRelation, filters: Seq[Expression]): Option[LogicalRelation] = {
    val relation = l.relation.asInstanceOf[HadoopFsRelation]
    val listing = new Listing(relation.location)
    // A setting that is wrong must not turn views off.
    conf.getConf(ZOrderConf.lockTimeoutSeconds)
    // While an operation is half published, a query without its views would read the files as they are now.
    var mustUseViews = false
    def name(table: Path) = l.catalogTable.fold(RecoveryErrors.quoted(table))(_.identifier.quotedString)
    try RecoveryErrors.told(name) {
        val named =
          if (l.catalogTable.isDefined) None
          else NamedFiles.of(session.asInstanceOf[classic.SparkSession], relation.location)
        ScanSnapshots.of(session, listing, relation.options, l.catalogTable, named).flatMap { views =>
          mustUseViews = views.exists(_.corrects)
          val ofTable = session.asInstanceOf[classic.SparkSession]
          val moved = MovedTables.current(ofTable, relation, l.catalogTable, views)
            .orElse(movedFiles(l, relation, named, views))
          indexed(l, relation, filters, listing, moved, views)
        }
      }
    catch {
      case e: ZOrderRuntimeException    => throw e
      case NonFatal(e) if !mustUseViews =>
        SkippingErrors.warn(relation.location.rootPaths, e)
        None
    }
  }

  /** An index of where the scan's files are now; None if all are where the listing shows them. */
  private def movedFiles(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      named: Option[NamedFiles],
      views: Seq[ScanSnapshot]
  ): Option[FileIndex] = {
    // Partitions of the catalog have values that the names of their folders need not say.
    val ofCatalog = l.catalogTable.exists(_.partitionColumnNames.nonEmpty)
    relation.location match {
      case base: PartitioningAwareFileIndex if !ofCatalog =>
        named.foreach(_.refuseGone(base.allFiles(), relation.options))
        if (views.exists(_.overlay.isDefined))
          Some(ScanSnapshots.around(session, base, relation.options, named, views))
        else None
      case _ => None
    }
  }

  /** The scan with a [[PlannedFileIndex]]; None if it has nothing to skip and nothing to correct. */
  private def indexed(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      filters: Seq[Expression],
      listing: Listing,
      moved: Option[FileIndex],
      views: Seq[ScanSnapshot]
  ): Option[LogicalRelation] = {
    val enabled = conf.getConf(ZOrderConf.skippingEnabled)
    if (!enabled && moved.isEmpty && !views.exists(_.corrects)) None
    else {
      val base = moved.getOrElse(relation.location)
      val index = new PlannedFileIndex(base, relation.location, views, l.catalogTable, enabled)
      val current = moved.fold(listing)(new Listing(_))
      Some(replaced(l, relation, index, l.catalogTable, index.estimate(l, filters, current)))
    }
  }
}
