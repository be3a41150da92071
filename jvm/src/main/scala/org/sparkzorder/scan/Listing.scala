package org.sparkzorder.scan

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, FileIndex, PartitionDirectory}

/**
 * Lists the files of an index once, for the planning of a scan and for the scan itself. Spark's index of a catalog table
 * would ask the metastore for the partitions each time.
 */
private[sparkzorder] final class Listing(val of: FileIndex) {
  private var made = Option.empty[FileIndex]
  private var known = Option.empty[Seq[PartitionDirectory]]

  /** The index that the scan reads through. It holds the listing, if all files were listed. */
  def source: FileIndex = made.getOrElse(of)

  def all: Seq[PartitionDirectory] = known.getOrElse {
    val index = of match {
      // Spark does the same if there is a filter on the partitions.
      case catalog: CatalogFileIndex => catalog.filterPartitions(Nil)
      case other                     => other
    }
    val listed = index.listFiles(Nil, Nil)
    made = Some(index)
    known = Some(listed)
    listed
  }

  /** The files of some partitions. May list fewer files. */
  def within(partitionFilters: Seq[Expression]): Seq[PartitionDirectory] =
    if (partitionFilters.isEmpty) all else source.listFiles(partitionFilters, Nil)

  /** Drops the listing. The next call lists anew. */
  def refresh(): Unit = {
    of.refresh()
    made = None
    known = None
  }
}
