package org.sparkzorder.memory.learn

import java.nio.file.{Files, Paths}
import java.nio.file.attribute.FileTime
import java.util.BitSet

import scala.util.control.NonFatal

import org.apache.hadoop.fs.LocalFileSystem
import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.sql.zorder.SparkOwn

import org.sparkzorder.memory.ReaderSettings

/**
 * Rows or batches of a partition of a scan, as a task reads them. Notes the parts of files in which a row passed the
 * scan's filter, and reports them when the input ends. Without a caller of [[passed]] that has said that it is there,
 * nothing is reported: silence is not the same as no row.
 *
 * @param look what a part's file is now; None if it is not the one that the scan was planned with
 * @param report is called at most once, with a bit for each part of the partition that has a row, or whose file was
 *   another one
 */
final class MatchTracker(
    partition: FilePartition,
    look: PartitionedFile => Option[Any],
    report: BitSet => Unit
) extends Iterator[AnyRef] {
  private val withRows = new BitSet(partition.files.length)
  private var input: Iterator[AnyRef] = Iterator.empty
  private var part = -1
  private var before = Option.empty[Any]
  private var isNoted = false
  private var isListening = false
  private var isDone = false

  /**
   * The partition that is to be read in place of the scan's own. Spark's reader asks a part for its name when it goes
   * on to it, so we are told by the reader itself, whatever runs in the same task or thread.
   */
  val toRead: FilePartition = FilePartition(
    partition.index,
    partition.files.toSeq.zipWithIndex.map { case (file, i) => new TrackedFile(file, () => moved(i)) }.toArray
  )

  /** @param rows of the scan for [[toRead]]; reads one part of a file after the other, and not ahead */
  def of(rows: Iterator[AnyRef]): this.type = {
    input = rows
    this
  }

  /** Promises that [[passed]] will be called for each row that passes the filter, before the next one is read. */
  def listen(): Unit = isListening = true

  /** Notes that a row of the latest input passed the filter. */
  def passed(): Unit = if (!isNoted) {
    isNoted = true
    if (part >= 0) withRows.set(part) else isDone = true
  }

  override def hasNext: Boolean = {
    val more = input.hasNext
    if (!more && isListening && !isDone) {
      isDone = true
      leave()
      // A part that the reader has not told of was not read.
      withRows.set(part + 1, toRead.files.length)
      report(withRows)
    }
    more
  }

  override def next(): AnyRef = input.next()

  /** Parts are read in their order. The reader is about to open this one, and is done with the one before. */
  private def moved(to: Int): Unit = if (to != part) {
    leave()
    if (to != part + 1) isDone = true
    part = to
    isNoted = false
    before = if (isListening) look(toRead.files(part)) else None
  }

  /** Another file may have taken the place of a part's file while it was read. */
  private def leave(): Unit =
    if (part >= 0 && isListening && (before.isEmpty || look(toRead.files(part)) != before)) withRows.set(part)
}

object MatchTracker {

  /** For generated code: the tally behind an input; one without effect if there is none. */
  def listeningTo(input: Iterator[_]): MatchTracker = input match {
    case tally: MatchTracker =>
      tally.listen()
      tally
    case _ => new MatchTracker(FilePartition(0, Array.empty), _ => None, _ => ())
  }
}

/**
 * A part of a file that tells when a reader goes on to it: then Spark asks for its path, to make it the current file.
 */
private[learn] final class TrackedFile(file: PartitionedFile, reached: () => Unit)
    extends PartitionedFile(
      file.partitionValues,
      file.filePath,
      file.start,
      file.length,
      file.locations,
      file.modificationTime,
      file.fileSize,
      file.otherConstantMetadataColumnValues
    ) {

  override def urlEncodedPath: String = {
    reached()
    super.urlEncodedPath
  }
}

/**
 * The input of a scan with a [[MatchTracker]] around each partition.
 *
 * @param settings of the plan, see [[ReaderSettings.ofTask]]. A task that has others reports nothing
 * @param isFiltered whether each row of the input has passed the filter; else a caller tells
 */
private[learn] final class TrackedPartitionRDD(
    scan: RDD[InternalRow],
    outcomes: FileOutcomes,
    settings: String,
    isFiltered: Boolean
) extends RDD[InternalRow](scan) {

  override protected def getPartitions: Array[Partition] = scan.partitions

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    split match {
      case partition: FilePartition if settings == ReaderSettings.ofTask =>
        val tally = new MatchTracker(partition, PlannedFile.look, rows => outcomes.add((partition.index, rows)))
        // The input holds batches as well, if generated code reads it. So its elements are not touched here.
        tally.of(scan.iterator(tally.toRead, context).asInstanceOf[Iterator[AnyRef]])
        if (isFiltered) {
          tally.listen()
          tally.map { row =>
            tally.passed()
            row.asInstanceOf[InternalRow]
          }
        } else tally.asInstanceOf[Iterator[InternalRow]]
      case _ => scan.iterator(split, context)
    }
  }
}

/** Tells whether a task reads the file that the scan was planned with. */
private[learn] object PlannedFile {

  /**
   * What a file is at this moment, if it has the length and the time that it was listed with; else None. A task looks
   * before it opens a file and after it has read it, and both looks must give the same. On a local disk the time of the
   * last change of its entry is a part: it changes if the file is moved away and comes back meanwhile. Files of stores
   * are looked at by the driver, many at once ([[PendingScan]]), since here each look would be a request.
   */
  def look(file: PartitionedFile): Option[Any] =
    if (isInStore(file)) Some(())
    else
      // File systems of others throw more than IO errors. What is not known teaches nothing, and the query goes on.
      try {
        val path = file.toPath
        val fs = path.getFileSystem(SparkOwn.hadoopConf)
        if (fs.getClass == classOf[LocalFileSystem]) {
          val now = Files.readAttributes(Paths.get(path.toUri.getPath), "unix:size,lastModifiedTime,ctime,ino")
          val time = now.get("lastModifiedTime").asInstanceOf[FileTime].toMillis
          if (now.get("size") == file.fileSize && time == file.modificationTime)
            Some((now.get("ctime"), now.get("ino")))
          else None
        } else {
          val now = fs.getFileStatus(path)
          if (now.getLen == file.fileSize && now.getModificationTime == file.modificationTime) Some(()) else None
        }
      } catch { case NonFatal(_) => None }

  def isInStore(file: PartitionedFile): Boolean = Stores(file.toPath.toUri.getScheme)

  private val Stores = Set("s3", "s3a", "s3n")
}
