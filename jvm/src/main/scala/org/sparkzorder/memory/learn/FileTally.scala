package org.sparkzorder.memory.learn

import java.util.BitSet

import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}

/**
 * Rows or batches of a partition of a scan, as a task reads them. Notes the parts of files in which a row passed the
 * scan's filter, and reports them when the input ends. Without a caller of [[passed]] that has said that it is there,
 * nothing is reported: silence is not the same as no row.
 *
 * @param look what a part's file is now; None if it is not the one that the scan was planned with
 * @param report is called at most once, with a bit for each part of the partition that has a row, or whose file was
 *   another one
 */
final class FileTally(
    partition: FilePartition,
    look: PartitionedFile => Option[Any],
    report: BitSet => Unit
) extends Iterator[AnyRef] {
  private val parts: Array[PartitionedFile] = partition.files
  private val withRows = new BitSet(parts.length)
  private var input: Iterator[AnyRef] = Iterator.empty
  private var part = -1
  private var before = Option.empty[Any]
  private var seen = 0
  private var isNoted = false
  private var isListening = false
  private var isDone = false

  /**
   * The partition that is to be read in place of the scan's own. Spark's reader asks a part for its name when it goes on
   * to it, so we are told by the reader itself, whatever runs in the same task or thread.
   */
  val toRead: FilePartition =
    FilePartition(partition.index, parts.indices.map(i => new ToldFile(parts(i), () => moved(i))).toArray)

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
      withRows.set(seen, parts.length max seen)
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
    seen = to + 1
    isNoted = false
    before = if (isListening) look(parts(part)) else None
  }

  /** Another file may have taken the place of a part's file while it was read. */
  private def leave(): Unit =
    if (part >= 0 && isListening && (before.isEmpty || look(parts(part)) != before)) withRows.set(part)
}

object FileTally {

  /** For generated code: the tally behind an input; one without effect if there is none. */
  def listeningTo(input: Iterator[_]): FileTally = input match {
    case tally: FileTally =>
      tally.listen()
      tally
    case _ => new FileTally(FilePartition(0, Array.empty), _ => None, _ => ())
  }
}
