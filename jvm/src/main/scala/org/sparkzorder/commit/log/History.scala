package org.sparkzorder.commit.log

import java.io.{FileNotFoundException, IOException, InterruptedIOException}

import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.compat._

/**
 * An operation in the history.
 *
 * @param state `committed`, `restored` (undone by a later RESTORE), `vacuumed`, `undone`
 * @param publishMillis how long its files were being exchanged
 * @param time the modification time of its record's file: that of the commit point, or of the undo
 * @param outcome why it was undone, or which process finished it after its owner died
 */
final case class HistoryEntry(
    record: Record,
    state: String,
    publishMillis: Option[Long],
    time: Long,
    outcome: Option[Outcome]
)

object History {
  val Committed = "committed"
  val Restored = "restored"
  val Vacuumed = "vacuumed"
  val Undone = "undone"

  /** The operation name, and the parameter that names the version, in a record of a RESTORE. */
  val RestoreOperation = "RESTORE"
  val RestoreParameter = "version"

  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.log.History")

  /** All published operations, newest first. Records that cannot be read are skipped with a warning. */
  def read(folder: TableFolder): Seq[HistoryEntry] = newestFirst(folder).toVector

  /** The same, but a record is read only when it is asked for. There may be thousands of them. */
  def newestFirst(folder: TableFolder): Iterator[HistoryEntry] =
    entries(new PublishedRecords(folder, () => folder.ops.list(folder.side)))

  /** The same from the listing of a state, as far as its files are still there. */
  def newestFirst(state: TableState): Iterator[HistoryEntry] = state match {
    case side: TableState.SideFolder =>
      // Later the folder is listed anew.
      val listings = Iterator(side.statuses) ++ Iterator.continually(side.folder.ops.list(side.folder.side))
      entries(new PublishedRecords(side.folder, () => listings.next()))
    case TableState.NoSideFolder => Iterator.empty
  }

  private def entries(records: PublishedRecords): Iterator[HistoryEntry] = {
    // A RESTORE undid the operations between itself and the version that it went back to.
    var reach = Long.MaxValue
    records.newestFirst.map { case (file, record) =>
      val isRestored = record.version > reach
      // A RESTORE that a later one undid has no effect.
      if (!isRestored) target(record).foreach(version => reach = version)
      val state =
        if (file.state == RecordState.Vacuumed) Vacuumed
        else if (isRestored) Restored
        else Committed
      val millis = file.publishMillis.orElse(record.metrics.get(Record.PublishMillis).flatMap(_.toLongOption))
      HistoryEntry(record, state, millis, file.meta.modificationTime, records.outcome(record))
    }
  }

  /**
   * Operations that were undone, newest first, as long as their records are kept. The operation
   * that was published next has the same version.
   */
  def undone(folder: TableFolder): Seq[HistoryEntry] = {
    val listing = folder.ops.list(folder.side)
    val names = listing.map(_.name).toSet
    SideListing.records(listing)
      .filter(_.state == RecordState.Undone)
      .flatMap { file =>
        readable(folder, file).map { record =>
          val outcome = if (names(folder.outcome(record).getName)) Outcome.shown(folder, record) else None
          HistoryEntry(record, Undone, None, file.meta.modificationTime, outcome)
        }
      }.sortBy(e => (-e.record.version, -e.time))
  }

  /** None when the record is gone, or damaged, which is logged. */
  private[commit] def readable(folder: TableFolder, file: RecordFile): Option[Record] =
    try Some(RecordJson.read(folder, file))
    catch {
      case e: UnreadableRecordException =>
        log.warn("left out of the history", e)
        None
      case _: java.io.FileNotFoundException => None
    }

  /** Deletes the records of some versions, the oldest first. Needs the lock. */
  private[commit] def forget(folder: TableFolder, lock: Lock, versions: Set[Long]): Unit =
    if (versions.nonEmpty) {
      val files = SideListing.withDoubles(lock.listing()).filter(f => f.state.isPublished && versions(f.version))
      // If one cannot be deleted, those behind it stay: the history gets no gap, and no record loses its VACUUM mark.
      files.sortBy(f => (f.version, f.state == RecordState.Vacuumed)).forall { file =>
        lock.checkInARow()
        deleted(folder, file)
      }
      ()
    }

  /** False if it cannot be deleted, which is logged. A VACUUM that is interrupted fails, as it has not done all. */
  private def deleted(folder: TableFolder, file: RecordFile): Boolean =
    try {
      folder.ops.delete(file.meta.path)
      true
    } catch {
      case e: InterruptedIOException => throw e
      case e: IOException            =>
        log.warn(s"old records of ${folder.root} stay for the next VACUUM", e)
        false
    }

  private[sparkzorder] def target(record: Record): Option[Long] =
    if (record.operation == RestoreOperation) record.parameters.get(RestoreParameter).flatMap(_.toLongOption) else None
}

/**
 * How much of the history is kept. VACUUM deletes the records of other operations, so that the side folder stays small
 * however many there were.
 *
 * @param retentionMillis the age at which an operation without retired files is forgotten
 * @param maxOperations with more operations than this, the oldest without retired files are forgotten
 * @param whole so many of the newest are always kept: queries compare listings with them, and streams learn from them
 *              where rows went
 */
final case class HistorySettings(
    retentionMillis: Long = 30L * 24 * 3600 * 1000,
    maxOperations: Int = 1000,
    whole: Int = HistorySettings.Whole
) {

  /**
   * The versions to forget. Beside the newest, these stay: the newest OPTIMIZE of the whole table, whose layout the next
   * one takes; the newest for each partition that tells where the catalog has it; and what a RESTORE undid, as long as the RESTORE
   * stays.
   *
   * @param history newest first
   * @param now milliseconds since 1970
   * @param isGone whether an operation has no retired files any more
   */
  def forgotten(history: Seq[HistoryEntry], now: Long)(isGone: HistoryEntry => Boolean): Set[Long] = {
    val located = history.flatMap(e => e.record.locationChanges.map(_.partition -> e)).distinctBy(_._1).map(_._2)
    val needed = (history.find(_.record.isOfWholeTable) ++ located).map(_.record.version).toSet
    def isOld(e: HistoryEntry, i: Int) = now - e.time > retentionMillis || i >= maxOperations
    def target(e: HistoryEntry) = History.target(e.record).getOrElse(Long.MaxValue)
    val (_, gone) = history.zipWithIndex.foldLeft((Long.MaxValue, Set.empty[Long])) { case ((reach, gone), (e, i)) =>
      val version = e.record.version
      if (i >= math.max(1, whole) && version <= reach && isOld(e, i) && !needed(version) && isGone(e))
        (reach, gone + version)
      else (math.min(reach, target(e)), gone)
    }
    gone
  }
}

object HistorySettings {

  /** A query reads no more records than this. */
  val Whole: Int = SideListing.NeverForgotten
}

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
