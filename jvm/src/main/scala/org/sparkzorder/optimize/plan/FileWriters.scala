package org.sparkzorder.optimize.plan

import scala.collection.mutable

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.{Record, WritingOperation}
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.RelativePath

/**
 * Finds the operations that wrote files, in the table's history.
 *
 * @param history newest first; read only as far as it is needed
 */
private[sparkzorder] final class FileWriters(names: RelativePath, history: => Seq[WritingOperation]) {
  import FileWriters.ClockSlackMillis

  def idOf(file: FileStatus): FileId = FileId(names.of(file.getPath), file.getLen, file.getModificationTime)

  /** The layout that each file was written in. Files that no record names have none. */
  def layoutsOf(files: Seq[FileStatus]): Map[FileId, String] =
    recordsOf(files).flatMap { case (file, record) => record.layout.map(file -> _) }

  /** Files that an earlier packing with this predicate and this number of files wrote. */
  def packedBefore(files: Seq[FileStatus], where: Option[String], numFiles: Option[Int]): Set[FileStatus] = {
    def isSame(record: Record): Boolean =
      record.operation == "OPTIMIZE" && record.layout.isEmpty &&
        OptimizeOptions.numFiles(record.parameters) == numFiles &&
        record.parameters.getOrElse("predicate", "") == where.getOrElse("")
    val records = recordsOf(files)
    files.filter(f => records.get(idOf(f)).exists(isSame)).toSet
  }

  /**
   * The record of the operation that wrote each file. An operation cannot have written a file that
   * is younger than its record, so reading ends where all records are older than the files that are
   * still sought.
   */
  def recordsOf(files: Seq[FileStatus]): Map[FileId, Record] = {
    // Each file under the name that it was written under: a RESTORE may have brought it back under
    // another.
    val sought = mutable.HashMap.from(files.map(idOf).map(id => id -> id))
    val found = Map.newBuilder[FileId, Record]
    var oldest = if (files.isEmpty) Long.MaxValue else files.map(_.getModificationTime).min
    val entries = history.iterator
    while (sought.nonEmpty && entries.hasNext) {
      val entry = entries.next()
      if (oldest > entry.time + ClockSlackMillis) sought.clear()
      else {
        val before = sought.size
        entry.record.brought.foreach { o =>
          val id = FileId(o.path, o.length, o.modificationTime)
          if (o.source.isEmpty) sought.remove(id).foreach(file => found += file -> entry.record)
          else if (o.pathBefore != o.path) sought.remove(id).foreach(sought(id.copy(path = o.pathBefore)) = _)
        }
        if (sought.nonEmpty && sought.size < before) oldest = sought.keysIterator.map(_.modificationTime).min
      }
    }
    found.result()
  }
}

private[sparkzorder] object FileWriters {

  /** The clock that stamped a record may differ this much from the one that stamped the files. */
  private val ClockSlackMillis = 10L * 60 * 1000
}
