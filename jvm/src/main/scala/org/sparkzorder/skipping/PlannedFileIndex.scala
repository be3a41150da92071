package org.sparkzorder.skipping

import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.{EqualTo, Expression, Literal}
import org.apache.spark.sql.execution.datasources._

import org.sparkzorder.scan.{ExchangeAwareListing, Listing, ScanSnapshot}
import org.sparkzorder.stats.OrderedValue

/**
 * The file index of a scan until it is planned: it lists all files of the table, but has the size of those that will be
 * read.
 *
 * The optimizer still changes such scans. It merges subqueries that differ in their filters, and turns subqueries into
 * joins that get further filters. So files are left out only when the scan is planned, by the filters that it has then.
 * Whatever a plan does with this index, no file is missing. Two of the same table are equal whatever their filters, as
 * Spark's own are.
 *
 * @param base the index to read through: Spark's own, or one of the places where its files are now
 * @param original the index that Spark made
 * @param views one for each table folder that the base reads from
 * @param table as the catalog has it; the scan's own copy has the smaller size
 */
private[skipping] final class PlannedFileIndex(
    val base: FileIndex,
    val original: FileIndex,
    val views: Seq[ScanSnapshot],
    val table: Option[CatalogTable],
    enabled: Boolean
) extends ViewedIndex {

  private case class Made(filters: Seq[Expression], hasLater: Boolean, index: Option[SkippingFileIndex]) {
    val isRecorded = new AtomicBoolean
  }

  @volatile private var made: List[Made] = Nil
  @volatile private var size = Option.empty[Long]

  /** The optimizer's listing, if a new one would ask the catalog for all partitions again. */
  @volatile private var listed = Option.empty[Listing]

  /**
   * The index that the scan reads through with these filters. Usually the optimizer and the planner have the same
   * filters, so the latest answers are kept.
   */
  def location(l: LogicalRelation, filters: Seq[Expression]): FileIndex = {
    val found = pruned(l, filters, listed.getOrElse(new Listing(base)))
    // Spark may plan a scan several times while its query runs.
    if (enabled && filters.nonEmpty && RecordedQueries.isOn && found.isRecorded.compareAndSet(false, true))
      found.index.foreach(RecordedQueries.observe(l, _, filters))
    found.index.getOrElse(if (views.exists(_.corrects) || base.isInstanceOf[CatalogFileIndex]) this else base)
  }

  /** Whether the index may leave out files by the values of an expression that are known when the query runs. */
  def mayPrune(l: LogicalRelation, key: Expression): Boolean =
    enabled && views.exists(_.snapshot.isDefined) && OrderedValue.encoding(key.dataType).isDefined && {
      val relation = relationOf(l)
      val some = ScanFilters.evaluable(Seq(EqualTo(key, Literal.default(key.dataType))), l)
      val data = ScanPredicates.translated(relation, views, some).flatMap(_.columns)
        .filterNot(c => relation.partitionSchema.fieldNames.contains(c.path.head))
      // Spark's rules about buckets replace our scan by a plain one.
      relation.bucketSpec.isEmpty && data.exists(c =>
        views.flatMap(_.snapshot).exists(_.column(c.path, c.dataType).exists(!_.bounded.isEmpty))
      )
    }

  /** Bytes for the optimizer's estimates; None if Spark's own index would read the same files. */
  def estimate(l: LogicalRelation, filters: Seq[Expression], listing: Listing): Option[Long] = {
    listed = Some(listing).filter(_.of.isInstanceOf[CatalogFileIndex])
    size = pruned(l, filters, listing).index.map(_.sizeInBytes)
    size
  }

  private def relationOf(l: LogicalRelation): HadoopFsRelation = {
    val relation = l.relation.asInstanceOf[HadoopFsRelation]
    relation.copy(location = base)(relation.sparkSession)
  }

  private def guarded[T](otherwise: T)(work: => T): T =
    try work
    catch {
      case NonFatal(e) =>
        SkippingErrors.warn(base.rootPaths, e)
        otherwise
    }

  private def pruned(l: LogicalRelation, filters: Seq[Expression], listing: Listing): Made = {
    val evaluable = ScanFilters.evaluable(filters, l)
    val hasLater = filters.exists(f => ScanFilters.isLater(f) || JoinFilters.isOne(f, l))
    made.find(m => m.hasLater == hasLater && PlannedFileIndex.areSame(m.filters, evaluable)).getOrElse {
      val index = guarded(Option.empty[SkippingFileIndex])(
        Pruning(l, relationOf(l), views, listing, evaluable, enabled, hasLater)
      )
      val now = Made(evaluable, hasLater, index)
      made = (now :: made).take(PlannedFileIndex.MostKept)
      now
    }
  }

  override def inputFiles: Array[String] =
    if (!views.exists(_.corrects)) base.inputFiles
    else listFiles(Nil, Nil).flatMap(_.files.map(_.getPath.toUri.toString)).toArray
  override def sizeInBytes: Long = size.getOrElse(base.sizeInBytes)
  override def metadataOpsTimeNs: Option[Long] = base.metadataOpsTimeNs

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    ExchangeAwareListing.whenRun(base.listFiles(partitionFilters, dataFilters), views, base)

  // The statistics are not compared: they are not loaded if there is no filter, and each index reads through its own.
  private def read = (base, views.map(v => (v.root, v.version, v.overlay)))

  override def equals(other: Any): Boolean = other match {
    case that: PlannedFileIndex => (this eq that) || read == that.read
    case _                      => false
  }
  override def hashCode: Int = (base, views.map(_.root)).hashCode
  override def toString: String = s"PlannedFileIndex($base)"
}

private[skipping] object PlannedFileIndex {

  def of(l: LogicalRelation): Option[PlannedFileIndex] = l.relation match {
    case HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _) => Some(planned)
    case _                                                          => None
  }

  /** Answers that are kept, by their filters. */
  private val MostKept = 4

  private def areSame(some: Seq[Expression], others: Seq[Expression]): Boolean =
    some.length == others.length && some.zip(others).forall { case (a, b) => (a eq b) || a.semanticEquals(b) }
}
