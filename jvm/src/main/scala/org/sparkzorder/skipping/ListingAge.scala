package org.sparkzorder.skipping

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
 * @param endTime when all files were in place
 */
private[skipping] final case class Traces(
    there: Seq[String],
    gone: Seq[String],
    isNew: Boolean,
    time: Long,
    endTime: Long
)

private[skipping] object Traces {

  def of(file: RecordFile, record: Record): Traces = {
    val (outputs, inputs) = (record.outputs.map(_.path), record.inputs.map(_.path))
    val time = file.meta.modificationTime
    // A listing made during an operation that was undone later may show outputs and lack inputs.
    file.state match {
      case RecordState.Undoing => Traces(inputs, outputs, isNew = false, time, Long.MaxValue)
      case RecordState.Undone  => Traces(inputs, outputs, isNew = false, time, time)
      case _                   =>
        Traces(outputs, inputs, record.outputs.forall(_.source.isEmpty), time, time + file.publishMillis.getOrElse(0L))
    }
  }
}

/** Tells whether a listing was made before or during an operation. */
private[skipping] object ListingAge {

  /** A listing takes no longer than this, in milliseconds. */
  val LongestListing: Long = 10L * 60 * 1000

  /**
   * Goes back from the newest operation until one says how old the listing is. Operations run one after the other, so a
   * listing that shows the new files of one also shows those of all operations that had ended when it began. If a file
   * came and went several times, only the last time counts.
   *
   * @param listed names of the files in the listing
   * @param operations newest first
   * @return None if no operation says how old the listing is
   */
  def isStale(listed: Set[String], operations: Iterator[Traces]): Option[Boolean] = {
    // A listing may cover only some folders.
    val folders = listed.map(FileNames.parent)
    val decided = mutable.HashSet.empty[String]
    var begun = Option.empty[Long]
    while (operations.hasNext) {
      val operation = operations.next()
      if (begun.exists(_ > operation.endTime)) return Some(false)
      val gone = operation.gone.filterNot(decided)
      val there = operation.there.filterNot(decided)
      val reached = there.filter(f => folders.contains(FileNames.parent(f)))
      if (gone.exists(listed) || !reached.forall(listed)) return Some(true)
      if (operation.isNew && reached.nonEmpty && begun.isEmpty) begun = Some(operation.time - LongestListing)
      decided ++= gone ++= there
    }
    begun.map(_ => false)
  }
}
