package org.sparkzorder.skipping

import scala.collection.mutable

import org.sparkzorder.commit.{Record, RecordFile, RecordState, TableFolder}

/**
 * What an operation left in the table's folders, by relative names.
 *
 * @param isNew whether the files that are there since had not been there ever before: then a listing that holds them has
 *              come to its end no earlier than they came
 * @param time of its commit point, or of its undo; milliseconds since 1970
 * @param endTime when all was in place
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
    // A listing that was made while an operation lasted that was undone may hold outputs and lack inputs.
    file.state match {
      case RecordState.Undoing => Traces(inputs, outputs, isNew = false, time, Long.MaxValue)
      case RecordState.Undone  => Traces(inputs, outputs, isNew = false, time, time)
      case _                   =>
        Traces(outputs, inputs, record.outputs.forall(_.source.isEmpty), time, time + file.publishMillis.getOrElse(0L))
    }
  }
}

/** Tells from what operations left whether a listing was made before them or in the midst of one. */
private[skipping] object ListingAge {

  /** Nobody lists a table for longer, in milliseconds. */
  val LongestListing: Long = 10L * 60 * 1000

  /**
   * Goes back from the newest operation to one that says how old the listing is. Operations follow each other, so who
   * has seen the new files of one has seen those of all before it that had ended when he began. Of a file that came,
   * went and came back, what happened last counts.
   *
   * @param listed names of files
   * @param operations newest first
   * @return None when none of them says anything
   */
  def isStale(listed: Set[String], operations: Iterator[Traces]): Option[Boolean] = {
    // A listing may be of some folders only.
    val folders = listed.map(TableFolder.parent)
    val decided = mutable.HashSet.empty[String]
    var begun = Option.empty[Long]
    while (operations.hasNext) {
      val operation = operations.next()
      if (begun.exists(_ > operation.endTime)) return Some(false)
      val gone = operation.gone.filterNot(decided)
      val there = operation.there.filterNot(decided)
      val reached = there.filter(f => folders.contains(TableFolder.parent(f)))
      if (gone.exists(listed) || !reached.forall(listed)) return Some(true)
      if (operation.isNew && reached.nonEmpty && begun.isEmpty) begun = Some(operation.time - LongestListing)
      decided ++= gone ++= there
    }
    begun.map(_ => false)
  }
}
