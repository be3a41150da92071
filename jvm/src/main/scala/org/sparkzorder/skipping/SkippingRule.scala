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
  FileIndex,
  HadoopFsRelation,
  LogicalRelation,
  PartitioningAwareFileIndex
}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.errors.ZOrderRuntimeException
import org.sparkzorder.table.{PlainTables, RecoveryErrors}
import org.sparkzorder.write.FixedFileIndex

/**
 * Replaces the file index of every scan of a plain table that has a `_zorder` folder by a [[PlannedFileIndex]], from which
 * [[SkippingStrategy]] leaves out the files that cannot hold a matching row. Runs before join planning, which then sees the smaller
 * size, and before Spark prunes partitions, which does not know that index. So it lets Spark prune them first.
 */
class SkippingRule(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = through(SparkOwn.withPartitionsPruned(plan.transform {
    case l: LogicalRelation if eligible(l) => restored(l)
  }))

  // Not below an operator that matches: the outermost match has all the filters.
  private def through(plan: LogicalPlan): LogicalPlan = plan match {
    case operation @ PhysicalOperation(_, filters, l: LogicalRelation) if eligible(l) =>
      val after = planned(l, filters).getOrElse(l)
      if (after eq l) operation else operation.transformUp { case leaf if leaf eq l => after }
    case other => other.mapChildren(through)
  }

  private def eligible(l: LogicalRelation): Boolean = l.relation match {
    case r: HadoopFsRelation =>
      PlainTables.formatOf(r).isDefined && !l.isStreaming && !r.location.isInstanceOf[FixedFileIndex]
    case _ => false
  }

  /** As before this rule, which may have seen the scan in a subquery, before it had the filters that it has now. */
  private def restored(l: LogicalRelation): LogicalRelation = l.relation match {
    case r @ HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _) =>
      replaced(l, r, planned.original, planned.table, None)
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
    // Without its views the query would see the files that lie there now.
    var isAround = false
    def name(table: Path) = l.catalogTable.fold(RecoveryErrors.quoted(table))(_.identifier.quotedString)
    try RecoveryErrors.told(name) {
        val named =
          if (l.catalogTable.isDefined) None
          else NamedFiles.of(session.asInstanceOf[classic.SparkSession], relation.location)
        TableViews.of(session, listing, relation.options, l.catalogTable, named).flatMap { views =>
          isAround = views.exists(_.overlay.isDefined)
          val now = named.flatMap(_.placed(relation.options))
          // Partitions of the catalog have values that the names of their folders need not say.
          val ofCatalog = l.catalogTable.exists(_.partitionColumnNames.nonEmpty)
          val placed = now.getOrElse(relation.location) match {
            case base: PartitioningAwareFileIndex if !ofCatalog && views.exists(_.overlay.isDefined) =>
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
      case NonFatal(e) if !isAround  =>
        SkippingErrors.warn(relation.location.rootPaths, e)
        None
    }
  }
}
