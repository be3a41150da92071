package org.sparkzorder.memory.learn

import java.util.BitSet

import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.sql.zorder.SparkOwn
import org.apache.spark.unsafe.types.UTF8String

/**
 * Rows or batches of a partition of a scan, as a task reads them. Notes the parts of files in which a row passed the
 * scan's filter, and reports them when the input ends. Without a caller of [[passed]] that has said that it is there,
 * nothing is reported: silence is not the same as no row.
 *
 * @param input reads one part of a file after the other, and not ahead
 * @param isThere whether the file of a part is the one that the scan was planned with
 * @param report is called at most once, with a bit for each part of the partition that has a row, or whose file was
 *   another one
 */
final class FileTally(
    input: Iterator[AnyRef],
    partition: FilePartition,
    isThere: PartitionedFile => Boolean,
    report: BitSet => Unit
) extends Iterator[AnyRef] {
  private val parts: Array[PartitionedFile] = partition.files
  private val withRows = new BitSet(parts.length)
  private var part = -1
  private var lookedAt = 0
  private var isNoted = false
  private var isListening = false
  private var isDone = false

  /** Promises that [[passed]] will be called for each row that passes the filter, before the next one is read. */
  def listen(): Unit = isListening = true

  /** Notes that a row of the latest input passed the filter. */
  def passed(): Unit = if (!isNoted) {
    isNoted = true
    if (part >= 0) withRows.set(part) else isDone = true
  }

  override def hasNext: Boolean = {
    val before = SparkOwn.currentFile
    val more = input.hasNext
    moveSince(before)
    if (!more && isListening && !isDone) {
      isDone = true
      lookUntil(parts.length)
      report(withRows)
    }
    more
  }

  override def next(): AnyRef = {
    val before = SparkOwn.currentFile
    val found = input.next()
    moveSince(before)
    found
  }

  /**
   * Finds the part that the input has gone on to. Spark's name of the current file is that of a thread, and another scan
   * may run in this thread between two calls. So only a name that came up during the call counts.
   */
  private def moveSince(before: UTF8String): Unit = {
    val now = SparkOwn.currentFile
    if (!(now eq before)) {
      part = find(now.toString, SparkOwn.currentStart)
      isNoted = false
      lookUntil(part + 1)
    }
  }

  /**
   * Looks at the files of parts that were opened since the last look. Another file may take the place of one, and then
   * go again, so the look comes at once.
   */
  private def lookUntil(end: Int): Unit = if (isListening)
    while (lookedAt < end) {
      if (!isThere(parts(lookedAt))) withRows.set(lookedAt)
      lookedAt += 1
    }

  /** Parts are read in their order, and parts without rows are passed over. */
  private def find(path: String, start: Long): Int =
    parts.indexWhere(p => p.start == start && p.urlEncodedPath == path, part + 1)
}

object FileTally {

  /** For generated code: the tally behind an input; one without effect if there is none. */
  def listeningTo(input: Iterator[_]): FileTally = input match {
    case tally: FileTally =>
      tally.listen()
      tally
    case _ => new FileTally(Iterator.empty, FilePartition(0, Array.empty), _ => true, _ => ())
  }
}
