package org.sparkzorder.commit

/**
 * A record as a listing of the side folder shows it.
 *
 * @param note what the name has after the version: the time of publishing, or the operation's id
 */
final case class RecordFile(version: Long, note: Option[String], state: RecordState, meta: FileMeta) {

  /** How long files were being exchanged; None before the end. */
  def publishMillis: Option[Long] = note.collect { case SideNames.PublishTime(millis) => millis.toLong }
}
