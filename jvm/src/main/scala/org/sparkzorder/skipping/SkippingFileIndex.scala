package org.sparkzorder.skipping

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, PartitionDirectory}

import org.sparkzorder.memory.ReadFile
import org.sparkzorder.predicate.StatsPredicate
import org.sparkzorder.scan.{ExchangeAwareListing, FileRevalidation, ScanSnapshot}

/** What is known of a scan's files only when it runs: files that need not be read, and what keys of joins say. */
private[sparkzorder] final case class LaterFiles(without: Set[ReadFile] = Set.empty, joins: Option[JoinedFiles] = None)

/** Files that are there without keys of joins, those that all keys keep, and those that each key keeps alone. */
private[sparkzorder] final case class JoinedFiles(before: Int, kept: Int, each: Seq[(String, Int)]) {
  def text: String = s"$kept of $before files (${each.map { case (key, n) => s"$key: $n" }.mkString(", ")})"
}

/**
 * The files of another index without those that cannot hold a matching row. Partition pruning, metadata columns and the
 * listing are those of the other index.
 *
 * Two of these are equal if they have the same base and views and keep the same files, however the filters are written.
 * So Spark can reuse an exchange of one scan for the other. What memory knows of them makes no difference: their rows
 * are the same.
 *
 * @param relation with the index that Spark made
 * @param views one for each table folder that the base reads from
 * @param predicates what is asked of the statistics, all of them
 * @param selection the files that are kept. Memory leaves out some of them only when the query runs
 * @param look at the files that are left out, by the session's settings when the query runs
 */
final class SkippingFileIndex private[skipping] (
    private[skipping] val relation: HadoopFsRelation,
    val views: Seq[ScanSnapshot],
    private[skipping] val predicates: Seq[StatsPredicate],
    private val selection: Selection,
    look: () => Option[FileRevalidation],
    override val sizeInBytes: Long,
    override val report: Option[SkippingReport]
) extends ReportingIndex
    with ViewedIndex {

  /** The index that Spark made. */
  def base: FileIndex = relation.location

  override def inputFiles: Array[String] = base.inputFiles

  override def metadataOpsTimeNs: Option[Long] =
    Some(base.metadataOpsTimeNs.getOrElse(0L) + report.fold(0L)(r => (r.pruningMs * 1e6).toLong))

  private def scanned(listing: Seq[PartitionDirectory]) =
    ScannedTable(listing, selection.byIndex.map(_.known), relation)

  // Spark's index is asked again, so that a refresh since the planning is seen. It does not look at the disk.
  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val listing = ExchangeAwareListing.whenRun(base.listFiles(partitionFilters, dataFilters), views, base)
    val found = scanned(listing).kept(selection.copy(memory = None)).only(look())
    latest = found
    found._1.listing
  }

  @volatile private var latest = (scanned(Nil), Seq.empty[FileStatus])

  /** Files that are read because they had changed when the query asked for its files. */
  def changedFiles: Seq[FileStatus] = latest._2

  /**
   * Files of the last listing that need not be read, since memory knows that they have no row, or values say so that
   * are known now. They stay in the listing, so that this changes neither a plan nor which rows are in which partition.
   * [[PrunedScanRDD]] leaves them out. A plan may run more than once, so they are looked at each time.
   *
   * @param conjuncts about data, with values in place of scalar subqueries
   * @param joins keys of joins and the conditions on them
   */
  private[sparkzorder] def filesWithoutRows(
      conjuncts: Seq[Expression],
      joins: Seq[(Expression, Expression)]
  ): LaterFiles = {
    val remembered = selection.memory.filter(_.holdsNow)
    if (remembered.isEmpty && conjuncts.isEmpty && joins.isEmpty) LaterFiles()
    else {
      val table = latest._1
      val ofConjuncts = ScanPredicates.translated(relation, views, conjuncts)
      val ofKeys = ScanPredicates.translated(relation, views, joins.map(_._2))
      val byConjuncts = table.byBounds(ofConjuncts)
      val byKeys = ofKeys.map(p => table.byBounds(Seq(p)))
      val byBounds = byKeys.foldLeft(byConjuncts)(_ and _)
      // Values are looked for only in files that the bounds of all conditions keep.
      def byValues(p: StatsPredicate) = table.byValues(byBounds, p).orNot(byBounds)
      val others = ofConjuncts.map(byValues).foldLeft(byConjuncts)(_ and _)
      val each = byKeys.zip(ofKeys).map { case (kept, p) => kept.and(byValues(p)) }
      val all = table.kept(each.foldLeft(others)(_ and _).copy(memory = remembered))
      val byJoins =
        if (joins.isEmpty) None
        else {
          val before = table.kept(others.copy(memory = remembered)).count
          val alone = joins.zip(each).map { case ((key, _), kept) => JoinFilters.text(key) -> table.kept(kept).count }
          Some(JoinedFiles(before, all.count, alone))
        }
      LaterFiles(all.others(look()), byJoins)
    }
  }

  override def equals(other: Any): Boolean = other match {
    case that: SkippingFileIndex =>
      base == that.base && views == that.views && selection.byIndex == that.selection.byIndex
    case _ => false
  }
  override def hashCode: Int = (base, views.map(_.root)).hashCode
  override def toString: String = s"SkippingFileIndex($base)"
}
