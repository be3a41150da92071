package org.sparkzorder.skipping

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.sources.DataSourceRegister

import org.sparkzorder.memory.learn.LearningFilterExec
import org.sparkzorder.predicate.{Reason, ReasonCode}
import org.sparkzorder.scan.ExchangeAwareListing
import org.sparkzorder.table.RelativePath

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
      val scan = new ExplainedScan(l, filters)
      val unusable = ScanFilters.unusable(filters) ++ JoinFilters.notes(l)
      scan.location match {
        case index: SkippingFileIndex if index.report.isDefined =>
          scan.files(index)
          // The statistics rule them out, but they changed after they were listed.
          reported(scan.name, index.report.get, index.changedFiles, unusable)
        case index: ReportingIndex if index.report.isDefined => reported(scan.name, index.report.get, Nil, Nil)
        case _                                               => unskipped(scan, unusable)
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

  private def unskipped(scan: ExplainedScan, unusable: Seq[ConjunctReport]): ScanExplanation = {
    val files = scan.relation.location.listFiles(scan.onPartitions, Nil).flatMap(_.files)
    val (number, bytes) = (files.size.toLong, files.map(_.getLen).sum)
    val why = Reason(ReasonCode.NoStatistics, "the table has no skipping index, or skipping is off")
    val conjuncts = scan.others.map(f => ConjunctReport(f.sql, None, Some(why)))
    ScanExplanation(scan.name, number, number, bytes, bytes, 0.0, conjuncts ++ unusable)
  }

  private[skipping] def name(l: LogicalRelation, relation: HadoopFsRelation): String =
    l.catalogTable.map(_.identifier.unquotedString)
      .getOrElse(relation.location.rootPaths.map(_.toString).mkString(s"$relation ", ", ", ""))
}

/** A scan of files of a query that does not run, with the conjuncts right above it. */
private[skipping] final class ExplainedScan(l: LogicalRelation, filters: Seq[Expression]) {
  val relation: HadoopFsRelation = l.relation.asInstanceOf[HadoopFsRelation]

  /** The conjuncts about partitions alone, and the others. */
  val (onPartitions, others) = ScanFilters.byPartition(ScanFilters.evaluable(filters, l), l, relation)

  val location: FileIndex = relation.location match {
    case planned: PlannedFileIndex => RecordedQueries.paused(planned.location(l, filters))
    case other                     => other
  }

  def directories(index: FileIndex): Seq[PartitionDirectory] = index.listFiles(onPartitions, others)

  def files(index: FileIndex): Seq[FileStatusWithMetadata] = directories(index).flatMap(_.files)

  def name: String = ScanExplanation.name(l, relation)
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

/** @param path as in `DESCRIBE SKIPPING INDEX`: relative to the table's folder if it is below */
final case class ScanFile(path: String, bytes: Long, kept: Boolean)

/**
 * Rows of EXPLAIN SKIPPING FILES: the table's folder, None for several; the columns of the scan's conditions; and the
 * files of the partitions that the query reads.
 */
final case class ScanFiles(target: Option[String], columns: Seq[String], files: Seq[ScanFile])

object ScanFiles {

  /**
   * @param leaf a scan of an optimized plan
   * @param filters conjuncts right above the scan
   */
  def of(leaf: LogicalPlan, filters: Seq[Expression]): ScanFiles = leaf match {
    case l: LogicalRelation => of(new ExplainedScan(l, filters))
    case _                  => ScanFiles(None, Nil, Nil)
  }

  private def of(scan: ExplainedScan): ScanFiles = {
    val kept = scan.files(scan.location)
    // What memory leaves out stays in the listing.
    val (all, without) = before(scan.location) match {
      case skipping: SkippingFileIndex =>
        val listed = ExchangeAwareListing.of(scan.directories(skipping.base), skipping.views, skipping.base)
        (listed.flatMap(_.files), skipping.filesWithoutRows(Nil, Nil).without.map(_.path))
      case other => (scan.files(other), Set.empty[Path])
    }
    val isKept = kept.map(_.getPath).toSet -- without
    val root = rootOf(scan.location)
    val name = root.fold((p: Path) => p.toString)(new RelativePath(_).of)
    ScanFiles(
      for (r <- root; format <- formatOf(scan.relation)) yield s"$format.${quoteIdentifier(r.toString)}",
      scan.others.flatMap(_.references.map(_.name)).distinct,
      all.map(f => ScanFile(name(f.getPath), f.getLen, isKept(f.getPath)))
    )
  }

  private def before(location: FileIndex): FileIndex = location match {
    case reporting: ReportingIndex => reporting.before
    case other                     => other
  }

  private def rootOf(location: FileIndex): Option[Path] = before(location) match {
    case skipping: SkippingFileIndex => Some(skipping.views).collect { case Seq(view) => view.root }
    case other                       => Some(other.rootPaths).collect { case Seq(root) => root }
  }

  private def formatOf(relation: HadoopFsRelation): Option[String] =
    Some(relation.fileFormat).collect { case named: DataSourceRegister => named.shortName() }
}
