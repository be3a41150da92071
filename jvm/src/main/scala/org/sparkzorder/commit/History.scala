package org.sparkzorder.commit

import java.io.FileNotFoundException

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

  /** All published operations, newest first. Records that cannot be read are skipped with a warning. */
  def read(folder: TableFolder): Seq[HistoryEntry] = {
    val files = TableFolder.records(folder.ops.list(folder.side))
      .filter(f => f.state == RecordState.Done || f.state == RecordState.Vacuumed)
    val records = files.flatMap { file =>
      try Some(file -> RecordJson.read(folder, file))
      catch {
        case e: UnreadableRecordException =>
          log.warn("left out of the history", e)
          None
        case _: FileNotFoundException => None // vacuumed or overwritten since the listing
      }
    }
    val restores = records.map(_._2).filter(_.operation == RestoreOperation)
      .flatMap(r => r.parameters.get(RestoreParameter).flatMap(_.toLongOption).map(_ -> r.version))
    records.map { case (file, record) =>
      val undone = restores.exists { case (to, by) => record.version > to && record.version < by }
      val state = if (file.state == RecordState.Vacuumed) Vacuumed else if (undone) Restored else Committed
      HistoryEntry(record, state, file.publishMillis)
    }
  }
}
