package org.sparkzorder.commit.log

import java.io.FileNotFoundException

import org.slf4j.LoggerFactory

import org.sparkzorder.commit._

/**
 * The records of the published operations of a table, read one by one. Damaged ones are left out, with a warning.
 *
 * @param list lists the side folder. It is called again when a listed file is gone, since VACUUM renames records and
 *             deletes them
 */
private[commit] final class PublishedRecords(folder: TableFolder, list: () => Seq[FileMeta]) {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.log.History")

  /** How often in a row the folder is listed again. */
  private val Attempts = 5

  private var attempts = Attempts
  private var outcomes = Set.empty[String]
  private var left = listed(Long.MaxValue)

  private def listed(most: Long): List[RecordFile] = {
    val listing = list()
    outcomes = listing.iterator.map(_.name).filter(_.endsWith(SideNames.OutcomeSuffix)).toSet
    SideListing.records(listing).filter(f => f.state.isPublished && f.version <= most).toList
  }

  def newestFirst: Iterator[(RecordFile, Record)] =
    Iterator.continually(left).takeWhile(_.nonEmpty).flatMap(files => read(files.head).iterator)

  private def read(file: RecordFile): Option[(RecordFile, Record)] =
    try {
      left = left.tail
      val record = RecordJson.read(folder, file)
      attempts = Attempts
      Some(file -> record)
    } catch {
      case e: UnreadableRecordException =>
        log.warn("left out of the history", e)
        None
      // It was renamed or deleted.
      case _: FileNotFoundException if attempts > 0 =>
        attempts -= 1
        left = listed(file.version)
        None
      case _: FileNotFoundException => None
    }

  /** By the last listing. */
  def outcome(record: Record): Option[Outcome] =
    if (outcomes.nonEmpty && outcomes(folder.outcome(record).getName)) Outcome.shown(folder, record) else None
}
