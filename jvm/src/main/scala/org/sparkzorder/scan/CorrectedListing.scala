package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.{
  CatalogFileIndex,
  FileIndex,
  FileStatusWithMetadata,
  PartitionDirectory,
  PartitioningAwareFileIndex
}

import org.sparkzorder.commit.WorkerThreads

/**
 * A listing as the query should see it: while an operation is half published, and with files that
 * others wrote to earlier folders of the table.
 */
private[sparkzorder] object CorrectedListing {

  /** @param from the index that made the listing */
  def of(listing: Seq[PartitionDirectory], views: Seq[ScanSnapshot], from: FileIndex): Seq[PartitionDirectory] =
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
