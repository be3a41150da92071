package org.sparkzorder.commit

import java.io.FileNotFoundException

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

/**
 * A record with what became of it since.
 *
 * @param state `committed`, `restored` (undone by a later RESTORE), `vacuumed`
 * @param publishMillis for how long its files were being exchanged
 */
final case class HistoryEntry(record: Record, state: String, publishMillis: Option[Long])

object History {
  val Committed = "committed"
  val Restored = "restored"
  val Vacuumed = "vacuumed"

  /** The operation and the parameter that say that a record takes the table back to an earlier version. */
  val RestoreOperation = "RESTORE"
  val RestoreParameter = "version"

  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.History")

  /** How often the folder is listed anew when records that were listed are not there: VACUUM renames them. */
  private val Attempts = 5

  /** All published operations, newest first. Records that cannot be read are skipped with a warning. */
  def read(folder: TableFolder): Seq[HistoryEntry] = {
    def listed(): Seq[RecordFile] = TableFolder.records(folder.ops.list(folder.side)).filter(_.state.isPublished)
    @tailrec def attempt(files: Seq[RecordFile], left: Int): Seq[(RecordFile, Record)] = {
      val read = files.map(file => file -> readable(folder, file))
      val again = if (left > 0 && read.exists(_._2.isEmpty)) listed() else files
      if (again != files) attempt(again, left - 1) else read.collect { case (file, Some(record)) => file -> record }
    }
    val records = attempt(listed(), Attempts)
    val undone = restored(records.map(_._2))
    records.map { case (file, record) =>
      val state =
        if (file.state == RecordState.Vacuumed) Vacuumed else if (undone(record.version)) Restored else Committed
      HistoryEntry(record, state, file.publishMillis)
    }
  }

  /** None when it is damaged, which is logged, or gone. */
  private[commit] def readable(folder: TableFolder, file: RecordFile): Option[Record] =
    try Some(RecordJson.read(folder, file))
    catch {
      case e: UnreadableRecordException =>
        log.warn("left out of the history", e)
        None
      case _: FileNotFoundException => None
    }

  /**
   * The versions that a RESTORE has undone. One that is itself undone has undone nothing.
   *
   * @param records newest first
   */
  private def restored(records: Seq[Record]): Set[Long] =
    records.foldLeft((Set.empty[Long], Long.MaxValue)) { case ((undone, reach), record) =>
      if (record.version > reach) (undone + record.version, reach) else (undone, target(record).getOrElse(reach))
    }._1

  private def target(record: Record): Option[Long] =
    if (record.operation == RestoreOperation) record.parameters.get(RestoreParameter).flatMap(_.toLongOption) else None
}
