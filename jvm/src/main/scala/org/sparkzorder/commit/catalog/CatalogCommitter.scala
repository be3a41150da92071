package org.sparkzorder.commit.catalog

import java.io.IOException

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{RecordJson, StagingDirectories}
import org.sparkzorder.commit.storage.{AtomicFile, ObjectFileOps}

/**
 * Publishes an operation by telling the catalog of new folders, by the steps in `docs/design/commit.md`.
 *
 * @param home the folder with the table's side folder
 * @param rowsOf the number of rows that a file says it has; None if it is not complete
 * @param moves what the catalog will be told
 * @param directory of the new folders; None if partitions go back to folders that are there
 */
final class CatalogCommitter(
    home: TableFolder,
    lock: Lock,
    catalog: CatalogLocations,
    rowsOf: FileMeta => Option[Long],
    moves: Seq[LocationUpdate],
    directory: Option[Path]
) extends Committer {
  import CatalogCommitter._

  private val ops = home.ops

  /** The folders that the table leaves, as they were listed before the job read them. */
  private var found = Map.empty[String, Seq[FileMeta]]
  private var prepared = Option.empty[Record]
  private var isRecorded = false

  /**
   * Looks at the folders, and makes the new ones. They are known by [[moves]].
   *
   * @throws CommitConflictException when the catalog names another folder than the caller has listed
   */
  override def claim(folders: Seq[String]): Unit = {
    refuseMoved(moves)
    found = WorkerThreads.map(moves.map(_.from).distinct, home.threads)(dir => dir.toString -> ops.list(dir)).toMap
    if (directory.isDefined) {
      lock.check()
      StagingDirectories.write(home, lock.operationId, Nil)
      moves.foreach { m =>
        lock.check()
        ops.mkdirsLike(m.to, m.from)
      }
    }
  }

  override def target(folder: String, path: Path): Path = {
    val made = home.copy(root = directory.get)
    val partition = moves.find(_.from == path).flatMap(m => made.relative(m.to)).getOrElse("")
    CatalogOutputs.staging(home, made.root, partition, lock.operationId)
  }

  override def leavesUploadsOpen: Boolean = ObjectFileOps.storeOf(home).isDefined

  override def overwritten(): Seq[String] = Nil

  override def prepare(record: Record): Unit = prepared = Some(record)

  /** The file of an old folder as it was when [[claim]] looked, if it is still the one that was listed. */
  def atBegin(folder: Path, name: String, length: Long, modificationTime: Long): Option[FileMeta] =
    found.getOrElse(folder.toString, Nil)
      .find(m => m.name == name && m.length == length && m.modificationTime == modificationTime)

  /**
   * Copies files under their own names to a new folder, which no query reads yet.
   *
   * @return the copies, in the order of the files
   */
  def copied(some: Seq[FileMeta], to: Path): Seq[FileMeta] = CopyForward.copied(home, lock, some, to)(_.name)

  /** Everything from the last look at the old folders to the history. */
  override def commit(): Record =
    try commit(prepared.getOrElse(throw new IllegalStateException("not prepared")))
    catch {
      case e: Throwable =>
        abort()
        throw e
    }

  private def commit(record: Record): Record = {
    val complete = withAppended(record.copy(way = CommitProtocol.Catalog))
    // An operation that was undone leaves no gap in the history.
    val numbered = complete.copy(version = SideListing.nextVersion(SideListing.newestPublished(lock.listing())))
    Record.check(numbered, lock.operationId)
    refuseMoved(numbered.locationChanges.map(_.move))
    if (directory.isEmpty) numbered.locationChanges.foreach(dropStale)
    // Others may append to an old folder, and overwrite it, without knowing that the table has left it.
    numbered.locationChanges.foreach { s =>
      lock.check()
      FolderNotes.leave(new Path(s.from), FolderNotes.left(lock.operationId), ops)
    }
    val path = home.record(numbered, RecordState.Moving)
    lock.check()
    AtomicFile.put(ops, home.newTemporary(), path, RecordJson.write(numbered))(lock.check())
    isRecorded = true
    refuseDiscarded(path)
    WorkerThreads.toTheEnd(s"zorder-commit-${lock.operationId}", alone = home.threads > 1)(exchange(numbered, _))
  }

  private def refuseMoved(moves: Seq[LocationUpdate]): Unit = {
    val now = catalog.current(moves.map(_.partition))
    val moved = moves.filterNot(m => now.get(m.partition).contains(m.from))
    if (moved.nonEmpty)
      throw new CommitConflictException(moved.map(_.partition.toString), "the catalog names another location by now")
  }

  private def withAppended(record: Record): Record =
    record.copy(locationChanges = WorkerThreads.map(record.locationChanges, home.threads)(withAppended(_, Rounds)))

  @scala.annotation.tailrec
  private def withAppended(switch: LocationChange, rounds: Int): LocationChange = {
    val from = new Path(switch.from)
    val now = ops.list(from).filter(StaleAppends.isVisible)
    val changed = switch.changed(now)
    if (changed.nonEmpty) throw new CommitConflictException(changed, "they are gone, or were changed or replaced")
    val known = switch.replaced.map(i => i.name).toSet
    val complete = now.filterNot(m => known(m.name)).flatMap(m => rowsOf(m).map(m -> _))
    if (complete.isEmpty || rounds == 0) switch
    else {
      if (directory.isEmpty) CopyForward.announce(home, lock, complete.map(_._1), new Path(switch.to))
      withAppended(CopyForward.appended(home, lock, switch, complete), rounds - 1)
    }
  }

  /** Deletes copies of an earlier attempt to go back to a folder: their rows may have been deleted since. */
  private def dropStale(switch: LocationChange): Unit = {
    val needed = switch.outputs.map(o => o.name).toSet
    ops.list(new Path(switch.to))
      .filter(m => StaleAppends.isVisible(m) && ForwardCopyName.isOne(m.name) && !needed(m.name))
      .foreach { m =>
        lock.checkInARow()
        ops.delete(m.path)
      }
  }

  /**
   * A recovery that took us for dead removes the manifest and then looks for the record. We write the
   * record and then look for the manifest. So one of us sees the other, and the folder stays.
   */
  private def refuseDiscarded(record: Path): Unit =
    if (directory.isDefined && !ops.exists(home.manifest(lock.operationId))) {
      ops.delete(record)
      throw new LockLostException(lock.path, "another process has removed what this operation wrote")
    }

  private def exchange(record: Record, interrupted: () => Boolean): Record = {
    if (interrupted()) throw new InterruptedException("interrupted before the catalog was told")
    lock.check()
    try {
      refuseMoved(record.locationChanges.map(_.move))
      refuseChanged(record)
    } catch {
      case e: CommitConflictException =>
        CatalogRecovery.giveUp(home, lock, record, record.locationChanges, e.getMessage, None)
        CatalogRecovery.conclude(home, lock, record)
        throw e
    }
    // The listings may have taken long.
    lock.check()
    val started = System.nanoTime()
    val failure =
      try {
        catalog.move(record.locationChanges.map(_.move))
        None
      } catch { case e: IOException => Some(e) }
    failure.foreach(e => log.warn(s"the catalog's answer for ${home.root} was an error, looking at the locations", e))
    // A process that has taken the lock from us has ended the operation, and may have deleted our inputs since.
    lock.check()
    try {
      val ended = CatalogRecovery.end(home, lock, catalog, record, started, failure.map(_.getMessage))
      copyForward()
      CatalogRecovery.changedMeanwhile(home, ended).foreach(e => throw e)
      ended
    } catch {
      case e: IOException =>
        lock.abandon()
        throw new IncompletePublishException(home.record(record, RecordState.Moving), e)
    }
  }

  private def refuseChanged(record: Record): Unit = WorkerThreads.each(record.locationChanges, home.threads) { change =>
    val to = new Path(change.to)
    val missing = change.missing(ops.list(to))
    if (missing.nonEmpty)
      throw new CommitConflictException(missing, "they are gone from the new folder, or were changed")
  }

  /** The operation has succeeded by now, and the next statement would do it as well. */
  private def copyForward(): Unit =
    try CopyForward.run(home, lock, CatalogView.read(home, catalog), rowsOf)
    catch {
      case e @ (_: IOException | _: CommitException) =>
        log.warn(s"files that others have just written to an earlier folder of ${home.root} stay there for now", e)
    }

  /** Removes the new folders, unless the catalog may have been told of them. */
  override def abort(): Unit = if (!isRecorded)
    try {
      lock.check()
      CatalogRecovery.discard(home, lock.operationId)
      ops.delete(home.manifest(lock.operationId))
    } catch {
      case e @ (_: IOException | _: CommitException) =>
        log.warn(s"cannot remove ${directory.getOrElse("what was begun")}, the next statement will", e)
        lock.abandon()
    }
}

private object CatalogCommitter {
  private val log = LoggerFactory.getLogger(classOf[CatalogCommitter])

  /** How often a folder is listed until no new file has come. What comes later is copied after the switch. */
  private val Rounds = 5
}
