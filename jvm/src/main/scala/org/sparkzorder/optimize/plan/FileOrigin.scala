package org.sparkzorder.optimize.plan

import scala.collection.mutable

import org.sparkzorder.commit.Record
import org.sparkzorder.commit.log.{HistoryEntry, HistorySettings}
import org.sparkzorder.compat._
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.stats.FileId

/**
 * What an operation was to do with the files that it wrote, as a text. The index keeps it for each file, so
 * that a later OPTIMIZE knows which files it may leave.
 */
private[sparkzorder] object FileOrigin {

  /** Of an OPTIMIZE: its layout, or else what it packs. */
  def of(plan: OptimizePlan, statement: OptimizeStatement): String =
    plan.layout.fold(packing(statement.where.map(_.text), plan.options, plan.maxRecords))(_.json)

  /** Of files that are packed without a layout. No layout has this text, since that is a JSON object. */
  def packing(where: Option[String], options: OptimizeOptions, maxRecords: Long): String =
    packing(where, options.numFiles, s"${options.targetFileSize} bytes and $maxRecords rows")

  private def packing(where: Option[String], numFiles: Option[Int], size: String): String =
    numFiles.fold(s"packed into files of $size")(files => s"packed into $files files: ${where.getOrElse("")}")

  private def of(record: Record): String =
    record.layout.getOrElse(
      packing(
        record.parameters.get("predicate").filter(_.nonEmpty),
        OptimizeOptions.numFiles(record.parameters),
        // A limit of rows is not in the record.
        OptimizeOptions.targetFileSize(record.parameters).fold("some size")(bytes => s"$bytes bytes and 0 rows")
      )
    )

  /** The clock that stamped a record may differ this much from the one that stamped the files. */
  private val ClockSlackMillis = 10L * 60 * 1000

  /**
   * The origins of files that the index does not have, as far as whole records tell them. An
   * operation cannot have written a file that is younger than its record, so reading ends where all records
   * are older than the files that are still sought.
   *
   * @param history newest first; read only as far as it is needed
   * @param most so many records are read at most
   */
  def ofRecords(
      files: Seq[FileId],
      history: Iterator[HistoryEntry],
      most: Int = HistorySettings.Whole
  ): Map[FileId, String] = {
    // Each file under the name that it was written under: a RESTORE may have brought it back under
    // another.
    val sought = mutable.HashMap.from(files.map(id => id -> id))
    val found = Map.newBuilder[FileId, String]
    val whole = history.filterNot(_.isLine).take(most)
    while (sought.nonEmpty && whole.hasNext) {
      val entry = whole.next()
      if (sought.keysIterator.map(_.modificationTime).min > entry.time + ClockSlackMillis) sought.clear()
      else
        entry.record.brought.foreach { o =>
          val id = FileId(o.path, o.length, o.modificationTime)
          if (o.source.isEmpty) sought.remove(id).foreach(file => found += file -> of(entry.record))
          else if (o.pathBefore != o.path) sought.remove(id).foreach(sought(id.copy(path = o.pathBefore)) = _)
        }
    }
    found.result()
  }
}
