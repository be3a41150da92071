package org.sparkzorder.commit

import scala.util.matching.Regex

/**
 * Reads a listing of a side folder: which of its files are records, locks, statistics. The names
 * are in [[SideNames]].
 */
private[commit] object SideListing {

  private val RecordName: Regex = """_v(\d{10,18})(?:-(.+))?\.([a-z]+)""".r
  private val CheckpointName: Regex = """_v(\d{10,18})-(\d{1,18})\.checkpoint""".r
  private val IndexName: Regex = """_index-(\d{10,18})\.zidx""".r

  /** The records, newest first. */
  def records(statuses: Seq[FileMeta]): Seq[RecordFile] = {
    val found = statuses.flatMap { meta =>
      meta.name match {
        case RecordName(digits, note, suffix) if !meta.isDirectory =>
          // Only an ended operation's record has a note. An unfinished one by such a name is not
          // ours: we would end it by renaming the name without the note, which is not there.
          RecordState.all.find(_.suffix == suffix).filter(note == null || !_.isUnfinished)
            .map(RecordFile(digits.toLong, Option(note), _, meta))
        case _ => None
      }
    }
    withoutDoubles(found).sortBy(-_.version)
  }

  /** Operations that may have told the catalog of new folders. */
  def moving(statuses: Seq[FileMeta]): Seq[RecordFile] = records(statuses).filter(_.state == RecordState.Moving)

  /**
   * On an object store a record gets its next name before it loses the last one. So VACUUM may have
   * left both.
   */
  private def withoutDoubles(found: Seq[RecordFile]): Seq[RecordFile] = {
    val vacuumed = found.filter(_.state == RecordState.Vacuumed).map(_.version).toSet
    if (vacuumed.isEmpty) found
    else found.filterNot(f => f.state == RecordState.Done && vacuumed(f.version))
  }

  /** The checkpoints, newest first. */
  def checkpoints(statuses: Seq[FileMeta]): Seq[CheckpointFile] =
    statuses.flatMap { meta =>
      meta.name match {
        case CheckpointName(version, number) if !meta.isDirectory =>
          Some(CheckpointFile(version.toLong, number.toLong, meta))
        case _ => None
      }
    }.sortBy(c => (-c.version, -c.number))

  /** The newest published version, as a record or in a checkpoint; 0 for none. */
  def newestPublished(statuses: Seq[FileMeta]): Long =
    (records(statuses).filter(_.state.isPublished).map(_.version) ++ checkpoints(statuses).map(_.version))
      .maxOption.getOrElse(0L)

  /**
   * Whether the operation of a version was published: its record says so, or it was gathered into a
   * checkpoint.
   */
  def isPublished(statuses: Seq[FileMeta], version: Long): Boolean =
    records(statuses).exists(f => f.version == version && f.state.isPublished) ||
      checkpoints(statuses).exists(_.version >= version)

  /** The files of statistics, newest first. */
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
