package org.sparkzorder.commit.machine

import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.catalog.CatalogRecovery
import org.sparkzorder.commit.lock.{Lock, LockSettings, ProcessState}
import org.sparkzorder.commit.log.{Outcome, RecordJson, StagingDirectories}
import org.sparkzorder.commit.place.{Cleanup, StoragePlaces}
import org.sparkzorder.commit.side.IndexFiles
import org.sparkzorder.commit.storage.{Clock, ObjectFileOps}

/**
 * Finishes or undoes what dead owners left in a table.
 *
 * @param lock the table's lock, which is held
 * @param keep as for [[SettleOperation]]
 */
private[commit] final class RecoveryUnderLock(lock: Lock, settings: LockSettings, keep: Option[Keep]) {
  import RecoveryUnderLock._

  private val folder = lock.folder
  private val ops = folder.ops

  /** @return what was done, in words for the log */
  def run(): Seq[String] = {
    val removed = removeLocks(lock.others.map(file => DeadLock(file, Owner.read(ops, file))))
    removed ++ settleRecords() ++ removeLeftovers()
  }

  /** Comes first: an owner that was only stalled must find its lock gone before we touch anything. */
  private def removeLocks(dead: Seq[DeadLock]): Seq[String] = {
    val areGone = dead.map { found =>
      ops.delete(found.file.path)
      found.owner.exists(o => settings.liveness.processState(o) == ProcessState.Gone)
    }
    // A stalled owner may have looked at its lock just before, and be in the middle of one rename.
    if (areGone.contains(false)) settings.sleep(math.min(RenameMillis, settings.timeoutMillis))
    dead.map(found => s"removed the lock of ${found.owner.fold("an unknown owner")(_.describe)}")
  }

  private def settleRecords(): Seq[String] =
    SideListing.records(lock.listing()).filter(_.state == RecordState.Publishing).map(settle)

  private def settle(file: RecordFile): String = {
    val record = RecordJson.read(folder, file)
    val settle = new SettleOperation(
      StoragePlaces.of(folder, () => ops.exists(lock.path), keep),
      folder,
      record,
      () => lock.checkInARow(),
      folder.threads,
      keep
    )
    val result = settle.toTheEnd(() => lock.listing(), () => sinceCommitPoint(file), isRecovery = true)
    settle.clean(result)
    val done = result.record
    val (why, what) =
      if (done.isDefined) (s"its owner died while it published its files${gone(done.get)}", "finished")
      else ("its owner died, and others had changed its files", "undid")
    Outcome.note(folder, done.getOrElse(record), why, Some(lock.owner.describe))
    result.refuseReplaced()
    s"$what version ${record.version}: $why"
  }

  private def gone(done: Record): String = done.metrics.get(Record.Gone).fold("") { files =>
    s". Old files were gone by then, and their rows are in the new files: ${files.replace("\n", ", ").take(1000)}"
  }

  /** None on an object store, whose clock stamps a record that is written anew. */
  private def sinceCommitPoint(file: RecordFile): Option[Long] =
    if (ObjectFileOps.storeOf(folder).isDefined) None
    else Some(math.max(0L, Clock.nowUnderLock(folder) - file.meta.modificationTime))

  private def removeLeftovers(): Seq[String] = {
    lock.check()
    val statuses = lock.listing()
    // An owner may have died while it cleaned up after its last record. Then its lock was the only trace.
    if (lock.others.nonEmpty) removeEmptyFolders(statuses)
    val (stagings, decided) = deadStagings(statuses).partition { id =>
      CatalogRecovery.discard(folder, id)
      StoragePlaces.of(folder).rollBack(id)
    }
    // An owner that was taken for dead has written its record since.
    val settled = if (decided.nonEmpty) settleRecords() else Nil
    removeTemporary(statuses)
    IndexFiles.prune(folder, statuses)
    settled ++ stagings.map(id => s"removed the files of operation $id")
  }

  /** What the last operation left, and what a VACUUM of any versions left. */
  private def removeEmptyFolders(statuses: Seq[FileMeta]): Unit = {
    val (vacuumed, others) = SideListing.records(statuses).partition(_.state == RecordState.Vacuumed)
    val ended = others.find(_.state == RecordState.Done) ++ vacuumed
    ended.flatMap(readable).foreach(Cleanup.done(folder, _))
  }

  private def removeTemporary(statuses: Seq[FileMeta]): Unit = {
    val now = statuses.find(_.name == lock.path.getName).map(_.modificationTime)
    statuses.filter(!_.isDirectory).foreach { m =>
      // Probes are written without the lock. A young one may be another's.
      def isOldProbe = m.name.startsWith(SideNames.ProbePrefix) &&
        now.exists(_ - m.modificationTime > settings.timeoutMillis)
      if (m.name.startsWith(SideNames.TemporaryPrefix) || isOldProbe) ops.delete(m.path)
    }
  }

  /**
   * Dead operations that may have left staging. Only a manifest shows that staging is this table's.
   * Other staging may belong to another table, and we do not judge its operation.
   */
  private def deadStagings(statuses: Seq[FileMeta]): Seq[String] = {
    val unfinished = SideListing.records(statuses).filter(_.state.isUnfinished)
    val underWay = unfinished.flatMap(readable).map(_.operationId).toSet
    StagingDirectories.operations(statuses).filterNot(id => id == lock.operationId || underWay(id))
  }

  private def readable(file: RecordFile): Option[Record] =
    try Some(RecordJson.read(folder, file))
    catch {
      case e: UnreadableRecordException =>
        log.warn("its folders are not cleaned", e)
        None
    }
}

private[commit] object RecoveryUnderLock {

  // Known by this name in logs, see docs/on-call.md.
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.machine.Recovery")

  private val RenameMillis = 1000L

  private final case class DeadLock(file: FileMeta, owner: Option[Owner])
}
