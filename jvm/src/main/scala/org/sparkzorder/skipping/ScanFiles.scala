package org.sparkzorder.skipping

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.sources.DataSourceRegister

import org.sparkzorder.scan.ExchangeAwareListing
import org.sparkzorder.table.RelativePath

/** @param path as in `DESCRIBE SKIPPING INDEX`: relative to the table's folder if it is below */
final case class ScanFile(path: String, bytes: Long, kept: Boolean)

/**
 * The files of one scan: rows of EXPLAIN SKIPPING FILES.
 *
 * @param target the table's folder, as statements name it; None for several folders
 * @param columns those that the scan's conditions are about
 * @param files those of the partitions that the query reads
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
