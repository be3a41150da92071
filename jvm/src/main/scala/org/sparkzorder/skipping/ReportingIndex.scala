package org.sparkzorder.skipping

import org.apache.spark.sql.execution.datasources.FileIndex

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
