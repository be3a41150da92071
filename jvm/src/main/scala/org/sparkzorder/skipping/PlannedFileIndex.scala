package org.sparkzorder.skipping

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{
  CatalogFileIndex,
  FileIndex,
  HadoopFsRelation,
  LogicalRelation,
  PartitionDirectory
}
import org.apache.spark.sql.types.StructType

/**
 * What the optimizer has for the file index of a scan: all files of the table, but the size of those that are going to be read.
 *
 * The optimizer goes on with such a scan. It merges subqueries that differ in their filters, and turns subqueries into joins that
 * get further filters. So files are left out no earlier than the scan is planned, by the filters that it has then. Whatever a plan
 * does with this index, no file is missing. Two of the same table are equal, whatever their filters, as they are without us.
 *
 * @param base the index to read through: Spark's own, or one of where its files are now
 * @param original the index that Spark made
 * @param views one for each table folder the base reads from
 * @param table as the catalog has it: the scan's own says the smaller size
 */
private[skipping] final class PlannedFileIndex(
    val base: FileIndex,
    val original: FileIndex,
    val views: Seq[TableView],
    val table: Option[CatalogTable],
    enabled: Boolean
) extends FileIndex {

  private case class Made(filters: Seq[Expression], index: Option[SkippingFileIndex])

  @volatile private var made: List[Made] = Nil
  @volatile private var size = Option.empty[Long]

  /** The optimizer's, of an index that would ask the catalog again for all partitions. */
  @volatile private var listed = Option.empty[Listing]

  /**
   * What the scan reads through with these filters: the optimizer's and the planner's are the same most of the time, and so is the
   * answer.
   */
  def location(l: LogicalRelation, filters: Seq[Expression]): FileIndex =
    pruned(l, filters, listed.getOrElse(new Listing(base))).getOrElse(if (views.exists(_.overlay.isDefined)) this
    else base)

  /** For the optimizer's estimates; None when Spark's own index does as well. */
  def estimate(l: LogicalRelation, filters: Seq[Expression], listing: Listing): Option[Long] = {
    listed = Some(listing).filter(_.of.isInstanceOf[CatalogFileIndex])
    size = pruned(l, filters, listing).map(_.sizeInBytes)
    size
  }

  private def pruned(l: LogicalRelation, filters: Seq[Expression], listing: Listing): Option[SkippingFileIndex] = {
    val evaluable = ScanFilters.evaluable(filters, l)
    made.find(m => PlannedFileIndex.areSame(m.filters, evaluable)).getOrElse {
      val relation = l.relation.asInstanceOf[HadoopFsRelation]
      val index =
        try Pruning(l, relation.copy(location = base)(relation.sparkSession), views, listing, evaluable, enabled)
        catch {
          case NonFatal(e) =>
            SkippingErrors.warn(base.rootPaths, e)
            None
        }
      val now = Made(evaluable, index)
      made = (now :: made).take(PlannedFileIndex.MostKept)
      now
    }.index
  }

  override def rootPaths: Seq[Path] = base.rootPaths
  override def inputFiles: Array[String] = base.inputFiles
  override def refresh(): Unit = base.refresh()
  override def sizeInBytes: Long = size.getOrElse(base.sizeInBytes)
  override def partitionSchema: StructType = base.partitionSchema
  override def metadataOpsTimeNs: Option[Long] = base.metadataOpsTimeNs

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    SkippingFileIndex.view(base.listFiles(partitionFilters, dataFilters), views)

  // Without the statistics, which are not read where there is nothing to filter: each reads through its own.
  private def read = (base, views.map(v => (v.root, v.version, v.overlay)))

  override def equals(other: Any): Boolean = other match {
    case that: PlannedFileIndex => (this eq that) || read == that.read
    case _                      => false
  }
  override def hashCode: Int = (base, views.map(_.root)).hashCode
  override def toString: String = s"PlannedFileIndex($base)"
}

private object PlannedFileIndex {

  /** Lists of filters for which the answer is kept. */
  private val MostKept = 4

  private def areSame(some: Seq[Expression], others: Seq[Expression]): Boolean =
    some.length == others.length && some.zip(others).forall { case (a, b) => (a eq b) || a.semanticEquals(b) }
}
