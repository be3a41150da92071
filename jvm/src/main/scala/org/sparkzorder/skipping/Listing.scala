package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}

/** The files of an index, listed once for all that the planning of a scan asks: the metastore is asked for partitions each time. */
private[skipping] final class Listing(val of: FileIndex) {
  private var known = Option.empty[Seq[PartitionDirectory]]

  def all: Seq[PartitionDirectory] = known.getOrElse {
    val listed = of.listFiles(Nil, Nil)
    known = Some(listed)
    listed
  }

  /** Those of some partitions, which may be fewer to list. */
  def within(partitionFilters: Seq[Expression]): Seq[PartitionDirectory] =
    if (partitionFilters.isEmpty) all else of.listFiles(partitionFilters, Nil)

  /** Has it made anew when it is asked for the next time. */
  def refresh(): Unit = {
    of.refresh()
    known = None
  }
}
