package org.sparkzorder.skipping

import org.apache.spark.sql.execution.datasources.FileIndex

/** An index of files that tells what was skipped. */
private[skipping] trait ReportingIndex extends FileIndex {

  /** None if there was nothing to skip by. */
  def report: Option[SkippingReport]

  /** The index that still had the files that were answered for. */
  def before: FileIndex = this
}
