package org.sparkzorder.skipping.join

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.execution.datasources.PartitionDirectory

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.skipping.SkippingFileIndex
import org.sparkzorder.skipping.answer.{AnswerableScan, RemainingFiles}

/**
 * The files of a side whose bounds are used. They are fixed, as those of answers are. The query fails if a file that the
 * side's filter left out has changed since: it may have rows for the filter now, with keys outside of the bounds.
 *
 * @param files those that are not left out
 * @param leftOut the others
 */
private final class BoundedFiles(scan: AnswerableScan, files: Seq[PartitionDirectory], leftOut: Seq[FileStatus])
    extends RemainingFiles(
      scan.planned.rootPaths,
      scan.relation.partitionSchema,
      files.filter(_.files.nonEmpty),
      BoundedFiles.reportOf(scan),
      scan.location,
      areChosen = false
    ) {

  /** A row that a reader leaves out by the filter is none of the query without bounds either. */
  override def needsAllRows: Boolean = false

  override def refuseChanged(): Unit =
    scan.changed(leftOut).headOption.foreach(path => throw ZOrderErrors.fileChanged(path.toString))
}

private object BoundedFiles {

  def of(scan: AnswerableScan, files: Seq[PartitionDirectory]): BoundedFiles = {
    val read = files.flatMap(_.files.map(_.getPath)).toSet
    val all = scan.planned.base.listFiles(scan.onPartitions, Nil).flatMap(_.files).map(_.fileStatus)
    new BoundedFiles(scan, files, all.filterNot(f => read(f.getPath)))
  }

  private def reportOf(scan: AnswerableScan) = scan.location match {
    case index: SkippingFileIndex => index.report
    case _                        => None
  }
}
