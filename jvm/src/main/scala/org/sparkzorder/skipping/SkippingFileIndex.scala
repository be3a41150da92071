package org.sparkzorder.skipping

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{
  CatalogFileIndex,
  FileIndex,
  FileStatusWithMetadata,
  PartitionDirectory,
  PartitioningAwareFileIndex
}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.commit.WorkerThreads

/**
 * The files of another index without those that cannot hold a matching row. Partition pruning, metadata columns and the
 * listing are those of the other index.
 *
 * Two of these are equal if they have the same base and views and keep the same files, however the filters are written.
 * So Spark can reuse an exchange of one scan for the other.
 *
 * @param base the index that Spark made
 * @param views one for each table folder that the base reads from
 * @param keepers one for each view with an index
 * @param look at the files that are left out, each time the query asks for its files
 */
final class SkippingFileIndex private[skipping] (
    val base: FileIndex,
    val views: Seq[ScanSnapshot],
    private val keepers: Seq[SelectedFiles],
    look: Option[FileRevalidation],
    override val sizeInBytes: Long,
    val report: Option[SkippingReport]
) extends FileIndex {

  /** Files that are read because they had changed when the query asked for its files. */
  def changedFiles: Seq[FileStatus] = look.fold(Seq.empty[FileStatus])(_.found)

  override def rootPaths: Seq[Path] = base.rootPaths
  override def inputFiles: Array[String] = base.inputFiles
  override def refresh(): Unit = base.refresh()
  override def partitionSchema: StructType = base.partitionSchema
  override def metadataOpsTimeNs: Option[Long] =
    Some(base.metadataOpsTimeNs.getOrElse(0L) + report.fold(0L)(r => (r.pruningMs * 1e6).toLong))

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val listing = SkippingFileIndex.view(base.listFiles(partitionFilters, dataFilters), views, base)
    new ListedTable(listing, keepers.map(_.known)).only(keepers, look)
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

object SkippingFileIndex {

  /**
   * The listing as the query should see it: while an operation is half published, and with files that
   * others wrote to earlier folders of the table.
   *
   * @param from the index that made the listing
   */
  def view(listing: Seq[PartitionDirectory], views: Seq[ScanSnapshot], from: FileIndex): Seq[PartitionDirectory] =
    if (!views.exists(_.corrects)) listing
    else
      // Each folder may take a look into an earlier one.
      WorkerThreads.map(listing, if (views.exists(_.late.isDefined)) Threads else 1) { directory =>
        val folders =
          if (directory.files.isEmpty) emptyFolders(directory, from).map(_ -> Seq.empty[FileStatusWithMetadata])
          else directory.files.groupBy(_.getPath.getParent).toSeq
        val left = directory.files.filterNot(f => views.exists(_.hides(f.fileStatus)))
        val added =
          for {
            v <- views
            (folder, files) <- folders
            file <- v.movedTo(folder) ++ (if (isWhole(folder, from)) v.lateIn(folder, files.map(_.fileStatus)) else Nil)
          } yield FileStatusWithMetadata(file)
        directory.copy(files = left ++ added.filterNot(a => left.exists(_.getPath == a.getPath)))
      }

  private val Threads = 32

  /** Whether the query reads all of a folder. One that names files gets these files only. */
  private def isWhole(folder: Path, from: FileIndex): Boolean = from match {
    case _: CatalogFileIndex => true
    case other => other.rootPaths.exists(r => r == folder || s"$folder/".startsWith(s"${r.toString.stripSuffix("/")}/"))
  }

  /** The folders of a directory without files. */
  private def emptyFolders(directory: PartitionDirectory, from: FileIndex): Seq[Path] = from match {
    case index: PartitioningAwareFileIndex if index.partitionSchema.isEmpty => index.rootPaths
    case index: PartitioningAwareFileIndex                                  =>
      index.partitionSpec().partitions.filter(_.values == directory.values).map(_.path)
    // The catalog is asked only when a partition without files is read.
    case index: CatalogFileIndex =>
      index.filterPartitions(Nil).partitionSpec().partitions.filter(_.values == directory.values).map(_.path)
    case _ => Nil
  }
}
