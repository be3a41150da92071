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

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.table.PlainTables
import org.sparkzorder.write.FixedFileIndex

/**
 * Replaces the file index of every scan of a plain table that has a `_zorder` folder by a [[PlannedFileIndex]], from which
 * [[SkippingStrategy]] leaves out the files that cannot hold a matching row. Runs after partition pruning and before join planning,
 * which then sees the smaller size.
 */
class SkippingRule(session: SparkSession) extends Rule[LogicalPlan] {

  // Not below an operator that matches: the outermost match has all the filters.
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case operation @ PhysicalOperation(_, filters, l: LogicalRelation) if eligible(l) =>
      val before = restored(l, filters)
      val after = planned(before, filters).getOrElse(before)
      if (after eq l) operation else operation.transformUp { case leaf if leaf eq l => after }
    case other => other.mapChildren(apply)
  }

  private def eligible(l: LogicalRelation): Boolean = l.relation match {
    case r: HadoopFsRelation =>
      PlainTables.formatOf(r).isDefined && !l.isStreaming && !r.location.isInstanceOf[FixedFileIndex]
    case _ => false
  }

  /**
   * As before this rule, which may have seen the scan in a subquery, before it had the filters that it has now. Those on partitions
   * came after Spark's own rule for them.
   */
  private def restored(l: LogicalRelation, filters: Seq[Expression]): LogicalRelation = l.relation match {
    case r @ HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _) =>
      val (onPartitions, _) = ScanFilters.byPartition(ScanFilters.evaluable(filters, l), l, r)
      planned.original match {
        case partitions: CatalogFileIndex if onPartitions.nonEmpty =>
          val some = partitions.filterPartitions(onPartitions)
          replaced(l, r, some, planned.table, Some(some.sizeInBytes))
        case base => replaced(l, r, base, planned.table, None)
      }
    case _ => l
  }

  /** Rows and columns stay as they are: the filters stay above the scan, and the optimizer estimates by them. */
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

  private def planned(l: LogicalRelation, filters: Seq[Expression]): Option[LogicalRelation] = {
    val relation = l.relation.asInstanceOf[HadoopFsRelation]
    val listing = new Listing(relation.location)
    def name(table: Path) = l.catalogTable.fold(RecoveryErrors.quoted(table))(_.identifier.quotedString)
    try RecoveryErrors.told(name) {
        val named =
          if (l.catalogTable.isDefined) None
          else NamedFiles.of(session.asInstanceOf[classic.SparkSession], relation.location)
        TableViews.of(session, listing, relation.options, l.catalogTable, named).flatMap { views =>
          val now = named.flatMap(_.placed(relation.options))
          val placed = now.getOrElse(relation.location) match {
            case base: PartitioningAwareFileIndex if views.exists(_.overlay.isDefined) =>
              Some(TableViews.around(session, base, relation.options, views))
            case _ => now
          }
          val enabled = conf.getConf(ZOrderConf.skippingEnabled)
          if (!enabled && placed.isEmpty && views.forall(_.overlay.isEmpty)) None
          else {
            val base = placed.getOrElse(relation.location)
            val index = new PlannedFileIndex(base, relation.location, views, l.catalogTable, enabled)
            val current = if (placed.isEmpty) listing else new Listing(base)
            Some(replaced(l, relation, index, l.catalogTable, index.estimate(l, filters, current)))
          }
        }
      }
    catch {
      case e: ZOrderRuntimeException => throw e
      case NonFatal(e)               =>
        SkippingErrors.warn(relation.location.rootPaths, e)
        None
    }
  }
}
