package org.sparkzorder.optimize.run

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.footer.files.Footers
import org.sparkzorder.footer.{DataFormat, Encryption}
import org.sparkzorder.optimize.check.EncryptedFiles
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.write.job.RewriteResult

/** Looks at the files of a rewrite before they are visible. */
private[optimize] object WrittenFiles {

  /**
   * Checks that the new files have the rows of the inputs, and that what was encrypted still is.
   *
   * @param files the new files, in the order of the outputs
   * @return what is encrypted in the new files
   */
  def check(plan: OptimizePlan, result: RewriteResult, files: Seq[FileStatus]): Encryption = {
    val table = plan.table
    val (format, options) = (DataFormat.of(table.formatName).get, table.relation.options)
    val footers = Footers.readAll(table.session, files, format, table.dataSchema, Nil, options = options)
    RowVerification.check(plan, result, footers.map(_.rows))
    EncryptedFiles.refuseAfter(plan.inputs, footers)
    footers.map(_.encryption).foldLeft(Encryption.none)(_ ++ _)
  }
}
