package org.sparkzorder.optimize.plan

import scala.collection.mutable

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.Record
import org.sparkzorder.commit.log.{HistoryEntry, HistorySettings}
import org.sparkzorder.compat._
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.{DataFolder, RelativePath}

/**
 * What an operation was to do with the files that it wrote. The index keeps it for each file, so that a later OPTIMIZE
 * knows which files it may leave. Two operations were to do the same exactly if their texts are equal.
 *
 * @param layout as JSON, or how files are packed
 * @param ofPartitions whether the statement had a predicate, so that the layout is that of its partitions only
 * @param number how many files were asked for, and of what; None if they were to have a size
 */
private[sparkzorder] final case class FileOrigin(layout: String, ofPartitions: Boolean, number: Option[String]) {

  def text: String =
    (layout +: (Seq("of partitions").filter(_ => ofPartitions) ++ number.map("into " + _))).mkString("\n")

  /** Whether a statement about the whole table leaves files of another layout, unless it names one. */
  def keepsFrom(other: Option[LayoutSpec]): Boolean = ofPartitions && !other.exists(_.json == layout)
}

private[sparkzorder] object FileOrigin {

  /** A metric: a hash of the files that a statement with a number of files left as they were. */
  val LeftFilesHash = "leftFilesHash"

  private val Text = """(?s)([^\n]*)(\nof partitions)?(?:\ninto (.*))?""".r

  def parse(text: String): Option[FileOrigin] = text match {
    case Text(layout, partitions, number) => Some(FileOrigin(layout, partitions != null, Option(number)))
    case _                                => None
  }

  /** @param maxRecords how many rows a file may have at most; 0 for any number */
  def of(layout: Option[LayoutSpec], where: Option[String], options: OptimizeOptions, maxRecords: Long): FileOrigin =
    of(
      layout.map(_.json),
      where,
      OptimizeOptions.numFiles(options.asGiven),
      s"${options.targetFileSize} bytes and $maxRecords rows"
    )

  def of(record: Record): FileOrigin = of(
    record.layout,
    record.parameters.get("predicate").filter(_.nonEmpty),
    OptimizeOptions.numFiles(record.parameters),
    // A limit of rows is not in the record.
    OptimizeOptions.targetFileSize(record.parameters).fold("some size")(bytes => s"$bytes bytes and 0 rows")
  )

  private def of(layout: Option[String], where: Option[String], numFiles: Option[Int], size: String): FileOrigin =
    FileOrigin(
      layout.getOrElse(if (numFiles.isDefined) "packed" else s"packed into files of $size"),
      ofPartitions = layout.isDefined && where.isDefined,
      numFiles.map(files => s"$files files: ${where.getOrElse("")}")
    )

  /** The clock that stamped a record may differ this much from the one that stamped the files. */
  private val ClockSlackMillis = 10L * 60 * 1000

  /**
   * The origins of files that the index does not have, as far as the newest records tell them. An
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
    // Each file under the name that it was written under: a RESTORE may have brought it back under another.
    val sought = mutable.HashMap.from(files.map(id => id -> id))
    val found = Map.newBuilder[FileId, String]
    val whole = history.take(most)
    while (sought.nonEmpty && whole.hasNext) {
      val entry = whole.next()
      if (sought.keysIterator.map(_.modificationTime).min > entry.time + ClockSlackMillis) sought.clear()
      else
        entry.record.brought.foreach { o =>
          val id = FileId(o.path, o.length, o.modificationTime)
          if (o.source.isEmpty) sought.remove(id).foreach(file => found += file -> of(entry.record).text)
          else if (o.pathBefore != o.path) sought.remove(id).foreach(sought(id.copy(path = o.pathBefore)) = _)
        }
    }
    found.result()
  }
}

/**
 * Tells what the operations that wrote files were to do. The index says it. Of files that it does not have,
 * the newest records may.
 *
 * @param history newest first; read only as far as it is needed
 */
private[sparkzorder] final class FileWriters(
    names: RelativePath,
    snapshot: => Option[IndexSnapshot],
    history: => Iterator[HistoryEntry]
) {
  private lazy val index = snapshot

  def idOf(file: FileStatus): FileId = FileId(names.of(file.getPath), file.getLen, file.getModificationTime)

  /** The [[FileOrigin]] of each file that OPTIMIZE wrote, as far as it is known. */
  def originsOf(files: Seq[FileStatus]): Map[FileId, FileOrigin] = {
    val ids = files.map(idOf)
    val (known, others) = ids.partition(id => index.exists(_.ordinalOf(id.path, id.length, id.modificationTime) >= 0))
    (index.fold(Map.empty[FileId, String])(_.origins(known)) ++ FileOrigin.ofRecords(others, history))
      .flatMap { case (id, text) => FileOrigin.parse(text).map(id -> _) }
  }

  /** What the last operation that was to do the same left as it was, see [[FileSelection.left]]. */
  def leftBy(asked: FileOrigin): Option[String] =
    history.take(HistorySettings.Whole).map(_.record).find(FileOrigin.of(_) == asked)
      .flatMap(_.metrics.get(FileOrigin.LeftFilesHash))

  /**
   * The layout that all of some folders keep, since statements with a predicate gave it to them; None without any, or
   * if they keep several.
   */
  def layoutOf(folders: Seq[DataFolder]): Option[LayoutSpec] = {
    val some = folders.filter(_.files.nonEmpty)
    val origins = originsOf(some.flatMap(_.files))
    val kept = some.map(_.files.flatMap(f => origins.get(idOf(f))).filter(_.keepsFrom(None)).map(_.layout).toSet)
    Option.when(kept.nonEmpty && kept.forall(_ == kept.head) && kept.head.size == 1)(kept.head.head)
      .flatMap(LayoutSpec.parse)
  }
}
