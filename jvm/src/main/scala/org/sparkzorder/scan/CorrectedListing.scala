package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.{
  CatalogFileIndex,
  FileIndex,
  FileStatusWithMetadata,
  PartitionDirectory,
  PartitioningAwareFileIndex
}

/** A listing as the query should see it while an operation is half published. */
private[sparkzorder] object CorrectedListing {

  /** @param from the index that made the listing */
  def of(listing: Seq[PartitionDirectory], views: Seq[ScanSnapshot], from: FileIndex): Seq[PartitionDirectory] =
    if (!views.exists(_.corrects)) listing
    else
      listing.map { directory =>
        val folders =
          if (directory.files.isEmpty) emptyFolders(directory, from)
          else directory.files.map(_.getPath.getParent).distinct
        val left = directory.files.filterNot(f => views.exists(_.hides(f.fileStatus)))
        val added = for { v <- views; folder <- folders; file <- v.movedTo(folder) } yield FileStatusWithMetadata(file)
        directory.copy(files = left ++ added.filterNot(a => left.exists(_.getPath == a.getPath)))
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
