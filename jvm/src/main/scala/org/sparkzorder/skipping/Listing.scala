package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, FileIndex, PartitionDirectory}

/**
 * The files of an index, listed once for all that the planning of a scan asks, and for the scan itself: an index of a
 * catalog's partitions asks the metastore for them each time.
 */
private[skipping] final class Listing(val of: FileIndex) {
  private var made = Option.empty[FileIndex]
  private var known = Option.empty[Seq[PartitionDirectory]]

  /** What the scan reads through: it holds the listing, if there is one of all files. */
  def source: FileIndex = made.getOrElse(of)

  def all: Seq[PartitionDirectory] = known.getOrElse {
    val index = of match {
      // As Spark does where there is a filter on the partitions.
      case catalog: CatalogFileIndex => catalog.filterPartitions(Nil)
      case other                     => other
    }
    val listed = index.listFiles(Nil, Nil)
    made = Some(index)
    known = Some(listed)
    listed
  }

  /** Those of some partitions, which may be fewer to list. */
  def within(partitionFilters: Seq[Expression]): Seq[PartitionDirectory] =
    if (partitionFilters.isEmpty) all else source.listFiles(partitionFilters, Nil)

  /** Has it made anew when it is asked for the next time. */
  def refresh(): Unit = {
    of.refresh()
    made = None
    known = None
  }
}
