package org.sparkzorder.skipping

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import org.sparkzorder.memory.learn.LearningFilterExec
import org.sparkzorder.predicate.{Reason, ReasonCode}

/** A row of EXPLAIN SKIPPING: what one scan reads. Numbers are null if they are unknown without reading. */
final case class ScanExplanation(
    relation: String,
    filesTotal: java.lang.Long,
    filesKept: java.lang.Long,
    bytesTotal: java.lang.Long,
    bytesKept: java.lang.Long,
    pruningMs: java.lang.Double,
    conjuncts: Seq[ConjunctReport]
)

object ScanExplanation {

  /**
   * @param leaf a scan of an optimized plan
   * @param filters conjuncts right above the scan
   * @param later conjuncts that come after columns or conditions which must be evaluated first
   */
  def of(leaf: LogicalPlan, filters: Seq[Expression], later: Seq[Expression]): ScanExplanation = {
    val e = ofScan(leaf, filters)
    e.copy(conjuncts =
      e.conjuncts ++ later.map(f => ConjunctReport(f.sql, None, Some(ScanFilters.whyNot(f).getOrElse(notBelow))))
    )
  }

  private[skipping] def of(answered: AnsweredScan): ScanExplanation =
    reported(answered.relation, answered.report, Nil, Nil)

  private val notBelow =
    Reason(ReasonCode.UnsupportedExpression, "it comes after columns or conditions that cannot be evaluated with it")

  private def ofScan(leaf: LogicalPlan, filters: Seq[Expression]): ScanExplanation = leaf match {
    case l: LogicalRelation =>
      val relation = l.relation.asInstanceOf[HadoopFsRelation]
      location(l, relation, filters) match {
        case index: SkippingFileIndex if index.report.isDefined =>
          val changed = changedFiles(index, l, relation, filters)
          reported(name(l, relation), index.report.get, changed, ScanFilters.unusable(filters) ++ JoinFilters.notes(l))
        case index: ReportingIndex if index.report.isDefined =>
          reported(name(l, relation), index.report.get, Nil, Nil)
        case _ =>
          val e = unskipped(l, relation, filters)
          e.copy(conjuncts = e.conjuncts ++ JoinFilters.notes(l))
      }
    case local: LocalRelation =>
      local.getTagValue(AnsweredScan.Tag).map(of)
        .getOrElse(throw new IllegalArgumentException("no scan of files"))
    case v2: DataSourceV2ScanRelation =>
      val why = Reason(ReasonCode.UnsupportedExpression, "the table is read through a V2 source")
      ScanExplanation(v2.name, null, null, null, null, null, filters.map(f => ConjunctReport(f.sql, None, Some(why))))
    case other => throw new IllegalArgumentException(s"no scan of files: ${other.nodeName}")
  }

  private def reported(
      name: String,
      r: SkippingReport,
      changed: Seq[FileStatus],
      unusable: Seq[ConjunctReport]
  ): ScanExplanation = ScanExplanation(
    name,
    r.filesTotal,
    r.filesKept + changed.size,
    r.bytesTotal,
    r.bytesKept + changed.map(_.getLen).sum,
    r.pruningMs,
    r.conjuncts ++ unusable
  )

  /** Files that the statistics rule out and the query reads nevertheless, since they changed after they were listed. */
  private def changedFiles(
      index: SkippingFileIndex,
      l: LogicalRelation,
      relation: HadoopFsRelation,
      filters: Seq[Expression]
  ): Seq[FileStatus] = {
    val (onPartitions, others) = ScanFilters.byPartition(ScanFilters.evaluable(filters, l), l, relation)
    index.listFiles(onPartitions, others)
    index.changedFiles
  }

  /** The index through which a scan with these filters reads. */
  private[skipping] def location(l: LogicalRelation, relation: HadoopFsRelation, filters: Seq[Expression]): FileIndex =
    relation.location match {
      case planned: PlannedFileIndex => RecordedQueries.paused(planned.location(l, filters))
      case other                     => other
    }

  private def unskipped(l: LogicalRelation, relation: HadoopFsRelation, filters: Seq[Expression]): ScanExplanation = {
    val (onPartitions, others) = ScanFilters.byPartition(ScanFilters.evaluable(filters, l), l, relation)
    val files = relation.location.listFiles(onPartitions, Nil).flatMap(_.files)
    val bytes = files.map(_.getLen).sum
    val why = Reason(ReasonCode.NoStatistics, "the table has no skipping index, or skipping is off")
    ScanExplanation(
      name(l, relation),
      files.size.toLong,
      files.size.toLong,
      bytes,
      bytes,
      0.0,
      others.map(f => ConjunctReport(f.sql, None, Some(why))) ++ ScanFilters.unusable(filters)
    )
  }

  private[skipping] def name(l: LogicalRelation, relation: HadoopFsRelation): String =
    l.catalogTable.map(_.identifier.unquotedString)
      .getOrElse(relation.location.rootPaths.map(_.toString).mkString(s"$relation ", ", ", ""))
}

/**
 * What one scan of a query that has run has read.
 *
 * @param filesWithoutRows files that were read, and no row of them passed the filter. None if nothing counted it: there
 *   is no filter, memory is off or does not know it, or the scan was not read to its end
 */
private[sparkzorder] final case class ScanOutcome(explanation: ScanExplanation, filesWithoutRows: Option[Long])

private[sparkzorder] object ScanOutcome extends AdaptiveSparkPlanHelper {

  /** @param plan that has run */
  def of(plan: SparkPlan): Seq[ScanOutcome] = {
    val counted = collectWithSubqueries(plan) { case f: LearningFilterExec => f }
    collectWithSubqueries(plan) {
      case scan: FileSourceScanExec =>
        val filter = counted.find(f => find(f.child)(_ eq scan).isDefined)
        ScanOutcome(explanation(scan), filter.flatMap(_.filesWithoutRows))
      case node: AnsweredNode => ScanOutcome(ScanExplanation.of(node.answered), None)
    }
  }

  private def explanation(scan: FileSourceScanExec): ScanExplanation = {
    val name = scan.tableIdentifier.map(_.unquotedString)
      .getOrElse(scan.relation.location.rootPaths.map(_.toString).mkString(s"${scan.relation} ", ", ", ""))
    def metric(name: String) = scan.metrics.get(name).fold(0L)(_.value)
    val (files, bytes) = (metric("numFiles"), metric("filesSize"))
    scan.relation.location match {
      case index: ReportingIndex if index.report.isDefined =>
        val r = index.report.get
        val joins = scan match {
          case display: SkippingDisplay => display.joinReports
          case _                        => Nil
        }
        ScanExplanation(name, r.filesTotal, files, r.bytesTotal, bytes, r.pruningMs, r.conjuncts ++ joins)
      case _ => ScanExplanation(name, files, files, bytes, bytes, 0.0, Nil)
    }
  }
}
