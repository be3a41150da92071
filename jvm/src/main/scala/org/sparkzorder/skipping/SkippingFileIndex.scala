package org.sparkzorder.skipping

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, PartitionDirectory}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.memory.RememberedFiles
import org.sparkzorder.predicate.{Filters, StatsPredicate}
import org.sparkzorder.scan.{CorrectedListing, FileRevalidation, ScanSnapshot}

/**
 * The files of another index without those that cannot hold a matching row. Partition pruning, metadata columns and the
 * listing are those of the other index.
 *
 * Two of these are equal if they have the same base and views and keep the same files, however the filters are written.
 * So Spark can reuse an exchange of one scan for the other. What memory knows of them makes no difference: their rows
 * are the same.
 *
 * @param base the index that Spark made
 * @param views one for each table folder that the base reads from
 * @param keepers one for each view with an index
 * @param memory of files in which an earlier query found no row
 * @param look at the files that are left out, when the query asks for its files
 * @param newLook at those that stay in the listing, each time the plan runs
 */
final class SkippingFileIndex private[skipping] (
    val base: FileIndex,
    val views: Seq[ScanSnapshot],
    private val keepers: Seq[SelectedFiles],
    private val memory: Option[RememberedFiles],
    look: Option[FileRevalidation],
    newLook: () => Option[FileRevalidation],
    override val sizeInBytes: Long,
    override val report: Option[SkippingReport]
) extends ReportingIndex {

  /** Files that are read because they had changed when the query asked for its files. */
  def changedFiles: Seq[FileStatus] = look.fold(Seq.empty[FileStatus])(_.found)

  override def rootPaths: Seq[Path] = base.rootPaths
  override def inputFiles: Array[String] = base.inputFiles
  override def refresh(): Unit = base.refresh()
  override def partitionSchema: StructType = base.partitionSchema
  override def metadataOpsTimeNs: Option[Long] =
    Some(base.metadataOpsTimeNs.getOrElse(0L) + report.fold(0L)(r => (r.pruningMs * 1e6).toLong))

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val listing = CorrectedListing.whenRun(base.listFiles(partitionFilters, dataFilters), views, base)
    latest = new ListedTable(listing, keepers.map(_.known), partitionSchema).only(keepers, look)
    latest
  }

  @volatile private var latest = Seq.empty[PartitionDirectory]

  /**
   * Files of the last listing that need not be read, since memory knows that they have no row, or values say so that are
   * known now. They stay in the listing, so that this changes neither a plan nor which rows are in which partition.
   * [[PrunedScanRDD]] leaves them out. A plan may run more than once, so they are looked at each time.
   *
   * @param relation that reads through the base
   * @param conjuncts about data, with values in place of scalar subqueries
   * @param joins keys of joins and the conditions on them
   */
  private[sparkzorder] def filesWithoutRows(
      relation: HadoopFsRelation,
      conjuncts: Seq[Expression],
      joins: Seq[(Expression, Expression)]
  ): LaterFiles = {
    val remembered = memory.filter(_.holdsNow)
    if (remembered.isEmpty && conjuncts.isEmpty && joins.isEmpty) LaterFiles.none
    else {
      val notByName = ColumnsByName.whyNot(relation, views)
      val listed = new ListedTable(latest, keepers.map(_.known), partitionSchema)
      def both(a: Seq[SelectedFiles], b: Seq[SelectedFiles]) = a.zip(b).map { case (x, y) => x.and(y) }
      def selected(p: StatsPredicate) = listed.selected(p, relation)
      val ofConjuncts = conjuncts.map(ScanPredicates.translate(relation, notByName, _))
      val ofKeys = joins.map { case (_, f) => ScanPredicates.translate(relation, notByName, f) }
      val byConjuncts = selected(Filters.conjunction(ofConjuncts))
      val byBounds = ofKeys.map(selected).foldLeft(byConjuncts)(both)
      // Values are looked for only in files that the bounds of all conditions keep.
      def notRuledOut(p: StatsPredicate) =
        listed.byMembers(byBounds, p, relation).zip(byBounds).map { case (kept, all) => kept.orNot(all) }
      val others = ofConjuncts.map(notRuledOut).foldLeft(byConjuncts)(both)
      val ofJoins = ofKeys.map(p => both(selected(p), notRuledOut(p)))
      val all = ofJoins.foldLeft(others)(both)
      val byJoins =
        if (joins.isEmpty) None
        else {
          val each = joins.zip(ofJoins).map { case ((key, _), kept) => JoinFilters.text(key) -> listed.count(kept) }
          Some(JoinedFiles(listed.count(others, remembered), listed.count(all, remembered), each))
        }
      LaterFiles(listed.without(all, remembered, newLook()), byJoins)
    }
  }

  override def equals(other: Any): Boolean = other match {
    case that: SkippingFileIndex => base == that.base && views == that.views && keepSame(that)
    case _                       => false
  }
  private def keepSame(that: SkippingFileIndex): Boolean =
    keepers.length == that.keepers.length &&
      keepers.zip(that.keepers).forall { case (a, b) => a.keepsAsMuchAs(b) }
  override def hashCode: Int = (base, views.map(_.root)).hashCode
  override def toString: String = s"SkippingFileIndex($base)"
}
