package org.sparkzorder.commit

import scala.util.matching.Regex

import org.apache.hadoop.fs.{FileStatus, FileSystem}

/**
 * A record as a listing of the side folder shows it.
 *
 * @param note what the name has after the version: the time of publishing, or the operation's id
 */
final case class RecordFile(version: Long, note: Option[String], state: RecordState, meta: FileMeta) {

  /** How long files were being exchanged; None before the end. */
  def publishMillis: Option[Long] = note.collect { case SideNames.PublishTime(millis) => millis.toLong }
}

final case class NumberedIndexFile(number: Long, meta: FileMeta) {

  /** Its status. An object store has told all of it in the listing. */
  def status(fs: FileSystem): FileStatus =
    if (meta.etag.isEmpty) fs.getFileStatus(meta.path)
    else new FileStatus(meta.length, false, 1, 0L, meta.modificationTime, fs.makeQualified(meta.path))
}

/**
 * Reads a listing of a side folder: which of its files are records, locks, statistics. The names are in [[SideNames]].
 */
private[commit] object SideListing {

  private val RecordName: Regex = """_v(\d{10,18})(?:-(.+))?\.([a-z]+)""".r
  private val IndexName: Regex = """_index-(\d{10,18})\.zidx""".r

  def records(statuses: Seq[FileMeta]): Seq[RecordFile] = withoutDoubles(withDoubles(statuses)).sortBy(-_.version)

  /** The same in any order. A record may be there under two names. */
  def withDoubles(statuses: Seq[FileMeta]): Seq[RecordFile] =
    statuses.flatMap { meta =>
      meta.name match {
        case RecordName(digits, note, suffix) if !meta.isDirectory =>
          // Only an ended operation's record has a time in its name. An unfinished one by such a name is not ours.
          def isOfEnded = note != null && SideNames.PublishTime.pattern.matcher(note).matches
          RecordState.all.find(_.suffix == suffix).filterNot(_.isUnfinished && isOfEnded)
            .map(RecordFile(digits.toLong, Option(note), _, meta))
        case _ => None
      }
    }

  def moving(statuses: Seq[FileMeta]): Seq[RecordFile] = records(statuses).filter(_.state == RecordState.Moving)

  /** On an object store a record gets its next name before it loses the last one. So VACUUM may have left both. */
  private def withoutDoubles(found: Seq[RecordFile]): Seq[RecordFile] = {
    val vacuumed = found.filter(_.state == RecordState.Vacuumed).map(_.version).toSet
    if (vacuumed.isEmpty) found
    else found.filterNot(f => f.state == RecordState.Done && vacuumed(f.version))
  }

  /** So many of the newest records are never forgotten. */
  val NeverForgotten = 16

  /**
   * Whether the operation of a version was published. Of one that VACUUM has forgotten, only newer ones tell. Without so
   * many newer ones the record is missing for another reason, as in a copy of the table that is not whole.
   */
  def isPublished(statuses: Seq[FileMeta], version: Long): Boolean = {
    val all = records(statuses)
    val published = all.filter(_.state.isPublished).map(_.version)
    published.contains(version) ||
    published.count(_ > version) >= NeverForgotten && !all.exists(f =>
      f.version == version && f.state == RecordState.Undone
    )
  }

  /** The newest published version, whose record is always a file; 0 for none. */
  def newestPublished(statuses: Seq[FileMeta]): Long = records(statuses).find(_.state.isPublished).fold(0L)(_.version)

  def nextVersion(newest: Long): Long =
    if (newest < SideNames.MaxVersion) newest + 1
    else throw new java.io.IOException(s"no version comes after $newest")

  def indexes(statuses: Seq[FileMeta]): Seq[NumberedIndexFile] =
    statuses.flatMap { meta =>
      meta.name match {
        case IndexName(digits) if !meta.isDirectory => Some(NumberedIndexFile(digits.toLong, meta))
        case _                                      => None
      }
    }.sortBy(-_.number)

  def locks(statuses: Seq[FileMeta]): Seq[FileMeta] =
    statuses.filter(meta => !meta.isDirectory && meta.name.startsWith(SideNames.LockPrefix))
}
