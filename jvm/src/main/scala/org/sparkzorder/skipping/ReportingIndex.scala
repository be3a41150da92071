package org.sparkzorder.skipping

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.types.StructType

import org.sparkzorder.scan.ScanSnapshot

/** An index that reads through another one, and knows how the query sees the table folders that this reads from. */
private[skipping] trait ViewedIndex extends FileIndex {
  def base: FileIndex
  def views: Seq[ScanSnapshot]
  override def rootPaths: Seq[Path] = base.rootPaths
  override def refresh(): Unit = base.refresh()
  override def partitionSchema: StructType = base.partitionSchema
}

/** An index of files that tells what was skipped. */
private[skipping] trait ReportingIndex extends FileIndex {

  /** None if there was nothing to skip by. */
  def report: Option[SkippingReport]

  /** Whether each row of its files that passes the filter must come, since others are not read. */
  def areChosen: Boolean = false

  /** Whether rows are only right if each file is as it was listed. */
  def mustBeAsListed: Boolean = false

  /** The index that still had the files that were answered for. */
  def before: FileIndex = this
}
