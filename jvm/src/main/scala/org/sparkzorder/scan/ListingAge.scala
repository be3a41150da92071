package org.sparkzorder.scan

import scala.collection.mutable

import org.sparkzorder.commit.{FileNames, Record, RecordFile, RecordState}

/**
 * What an operation changed in the table's folders, by relative names.
 *
 * @param there files that came
 * @param gone files that went
 * @param isNew whether the files that came had never been there before. Then a listing that shows them ended after they
 *   came
 * @param time of the commit point, or of the undo; milliseconds since 1970
 */
private[scan] final case class Traces(there: Seq[String], gone: Seq[String], isNew: Boolean, time: Long)

/**
 * An operation of the history.
 *
 * @param endTime when all files were in place, in milliseconds since 1970
 * @param traces reads its record
 */
private[scan] final class PastOperation(val endTime: Long, val traces: () => Traces)

private[scan] object PastOperation {

  def of(file: RecordFile, record: RecordFile => Record): PastOperation =
    new PastOperation(endTime(file), () => traces(file, record(file)))

  private def endTime(file: RecordFile): Long = file.state match {
    case RecordState.Undone => file.meta.modificationTime
    case _                  => file.meta.modificationTime + file.publishMillis.getOrElse(0L)
  }

  private def traces(file: RecordFile, record: Record): Traces = {
    val (outputs, inputs) = (record.outputs.map(_.path), record.inputs.map(_.path))
    val time = file.meta.modificationTime
    // A listing made during an operation that was undone later may show outputs and lack inputs.
    file.state match {
      case RecordState.Undone => Traces(inputs, outputs, isNew = false, time)
      case _                  => Traces(outputs, inputs, record.outputs.forall(_.source.isEmpty), time)
    }
  }
}

/** Tells whether a listing was made before or during an operation. */
private[scan] object ListingAge {

  /** A listing takes no longer than this, in milliseconds. */
  val LongestListing: Long = 10L * 60 * 1000

  /**
   * Goes back from the newest operation until one says how old the listing is. Operations run one after the other, so a
   * listing that shows the new files of one also shows those of all operations that had ended when it began. If a file
   * came and went several times, only the last time counts.
   *
   * @param listed names of the files in the listing
   * @param operations newest first
   * @param isAll whether these are all operations since the listing was checked last
   * @return None if no operation says how old the listing is
   */
  def isStale(listed: Set[String], operations: Iterator[PastOperation], isAll: Boolean = true): Option[Boolean] = {
    // A listing may cover only some folders.
    val folders = listed.map(FileNames.parent)
    val decided = mutable.HashSet.empty[String]
    var begun = Option.empty[Long]
    while (operations.hasNext) {
      val next = operations.next()
      // Its record is not read.
      if (begun.exists(_ > next.endTime)) return Some(false)
      val operation = next.traces()
      val gone = operation.gone.filterNot(decided)
      val there = operation.there.filterNot(decided)
      val reached = there.filter(f => folders.contains(FileNames.parent(f)))
      if (gone.exists(listed) || !reached.forall(listed)) return Some(true)
      if (operation.isNew && reached.nonEmpty && begun.isEmpty) begun = Some(operation.time - LongestListing)
      decided ++= gone ++= there
    }
    // An operation that is not among these may have ended since the listing began.
    begun.filter(_ => isAll).map(_ => false)
  }
}
