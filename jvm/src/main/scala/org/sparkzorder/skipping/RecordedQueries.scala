package org.sparkzorder.skipping

import scala.util.control.NonFatal

import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, HiveTableRelation}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.predicate.{CatalystTranslator, Filters}
import org.sparkzorder.table.{ExcludedNames, SparkFormat}
import org.sparkzorder.workload.{JoinedFilter, Observation, WorkloadRecorder}

/** Gives the filters of queries to the workload recorder, if the session has turned it on. */
object RecordedQueries {

  private val paused = ThreadLocal.withInitial[Boolean](() => false)

  /** Records nothing while `work` runs: it plans queries that are not run. */
  def paused[T](work: => T): T = {
    val before = paused.get
    paused.set(true)
    try work
    finally paused.set(before)
  }

  private[skipping] def isOn: Boolean = !paused.get && SQLConf.get.getConf(ZOrderConf.workloadEnabled)

  /** Never fails. The filters are those of a scan that reads through the index. */
  private[skipping] def observe(l: LogicalRelation, index: SkippingFileIndex, filters: Seq[Expression]): Unit =
    try {
      lazy val excluded = ExcludedNames.of(l.catalogTable)
      val filter = Filters.conjunction(index.predicates.filterNot(ScanPredicates.isAboutPartitions(index.relation, _)))
      val joined = filters.flatMap(RecordedJoins.of(l, _))
      val user = UserGroupInformation.getCurrentUser
      for (view <- index.views; snapshot <- view.snapshot)
        WorkloadRecorder.observe(Observation(view.folder, snapshot, filter, joined, excluded.covers(_), user))
    } catch { case NonFatal(e) => WorkloadRecorder.notObserved(index.views.map(_.root), e) }
}

/** Reads off a join's filter of a scan which dimension decides it, and by what. */
private[skipping] object RecordedJoins {

  /** None unless `JOIN` of a statement can say the same: one table or folder, by one column of each side. */
  def of(l: LogicalRelation, filter: Expression): Option[JoinedFilter] = filter match {
    case d: DynamicPruningSubquery if JoinFilters.isOne(d, l) && d.buildKeys.size == 1 =>
      for {
        own <- path(d.pruningKey, l.output)
        (scan, filters, key) <- side(d.buildQuery, d.buildKeys.head)
        name <- nameOf(scan)
        keyPath <- path(key, scan.output)
      } yield {
        // A query may spell a column in another case.
        def column(a: AttributeReference) = scala.Right(Seq(scan.output.find(_.semanticEquals(a)).getOrElse(a).name))
        val usable = filters.filter(f => ScanFilters.whyNot(f).isEmpty && f.references.subsetOf(scan.outputSet))
        JoinedFilter(
          JoinSpec(name, own, keyPath),
          Filters.conjunction(usable.map(CatalystTranslator.translate(_, column))),
          statistics(scan),
          excluded(tableOf(scan))
        )
      }
    case _ => None
  }

  /** The scan of a side, its filters, and its key in the scan's columns. */
  private def side(plan: LogicalPlan, key: Expression): Option[(LogicalPlan, Seq[Expression], Expression)] =
    plan match {
      case PhysicalOperation(list, filters, scan) =>
        val known = list.collect { case a: Alias => a.toAttribute.exprId -> a.child }.toMap
        Some((scan, filters, key.transform { case a: Attribute => known.getOrElse(a.exprId, a) }))
      case _ => None
    }

  private def excluded(table: Option[CatalogTable]): Seq[String] => Boolean =
    try ExcludedNames.of(table).covers
    // The property is no list of names.
    catch { case _: AnalysisException => _ => true }

  private def tableOf(scan: LogicalPlan): Option[CatalogTable] = scan match {
    case r: LogicalRelation   => r.catalogTable
    case h: HiveTableRelation => Some(h.tableMeta)
    case _                    => None
  }

  /** A table of the catalog by its name, and a folder by its path. */
  private def nameOf(scan: LogicalPlan): Option[Seq[String]] =
    tableOf(scan).map(_.identifier.nameParts).orElse(scan match {
      case l: LogicalRelation =>
        l.relation match {
          case r: HadoopFsRelation if r.location.rootPaths.size == 1 =>
            SparkFormat.of(r).map(format => Seq(format, r.location.rootPaths.head.toString))
          case _ => None
        }
      case _ => None
    })

  private def statistics(scan: LogicalPlan): Option[IndexSnapshot] = scan match {
    case l: LogicalRelation =>
      l.relation match {
        case HadoopFsRelation(index: ViewedIndex, _, _, _, _, _) if index.views.size == 1 => index.views.head.snapshot
        case _                                                                            => None
      }
    case _ => None
  }

  /** The names of a column, or of a field of a struct, perhaps in a wider type. */
  private def path(key: Expression, output: Seq[Attribute]): Option[Seq[String]] = key match {
    case a: Attribute      => output.find(_.semanticEquals(a)).map(o => Seq(o.name))
    case f: GetStructField => path(f.child, output).map(_ :+ f.childSchema(f.ordinal).name)
    case c: Cast if Cast.canUpCast(c.child.dataType, c.dataType) => path(c.child, output)
    case _                                                       => None
  }
}
