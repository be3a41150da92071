package org.sparkzorder.skipping

import org.apache.spark.sql.execution.datasources.FileIndex

import org.sparkzorder.scan.ScanSnapshot

/** An index of files that knows how the query sees the table folders that it reads from. */
private[skipping] trait ViewedIndex extends FileIndex {
  def views: Seq[ScanSnapshot]
}
