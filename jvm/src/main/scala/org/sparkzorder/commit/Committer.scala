package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/**
 * Brings one operation's files into the table, by the steps in `docs/design/commit.md`. It is used
 * once: [[prepare]], then [[commit]] or [[abort]]. Whatever happens, the caller calls
 * `lock.release()` in the end. If something must be recovered, the lock was abandoned, and its file
 * stays.
 *
 * @param sleep how to wait for the file system's clock, in milliseconds
 * @param history how many records stay files, and for how long they are kept
 */
final class Committer(
    folder: TableFolder,
    lock: Lock,
    sleep: Long => Unit = Thread.sleep(_),
    history: HistorySettings = HistorySettings()
) extends InPlaceCommitter {
  private val ops = folder.ops
  private val log = LoggerFactory.getLogger(classOf[Committer])
  private var prepared: Option[Record] = None

  // At a failpoint, no other thread may go on.
  private def threads: Int = if (Failpoints.isSet) 1 else folder.threads

  /** Folders in which [[stage]] has made staging. */
  private var staging: Set[String] = Set.empty

  /**
   * Step 3: makes the staging of each folder that the job writes to. No row is touched.
   *
   * @param dirs relative to the root
   * @throws CommitConflictException when one of the folders is gone
   * @throws ConcurrentOperationException when an operation is running on a table over one of them
   */
  def stage(dirs: Seq[String]): Unit = orRollBack {
    RecoveryUnderLock.settleBelow(folder, lock, dirs)
    Manifest.write(folder, lock.operationId, dirs)
    Failpoints.hit("after-manifest")
    dirs.foreach { dir =>
      lock.check()
      staging += dir
      make(dir)(folder.stagingsOf(dir), folder.stagingOf(dir, lock.operationId))
    }
    // If somebody has just overwritten the whole table, the manifest is gone, and no recovery would
    // find the tasks' files.
    lock.check()
    Failpoints.hit("after-stage-folders")
  }

  /**
   * Folders that somebody has overwritten since [[stage]]. The files that the job wrote there are
   * gone.
   */
  def overwritten(): Seq[String] = staging.toSeq.sorted.filterNot { dir =>
    ops.exists(folder.stagingOf(dir, lock.operationId))
  }

  /**
   * Makes folders below a data folder's side folder, one by one: the data folder itself must not
   * come back.
   */
  private def make(dir: String)(below: Path*): Unit =
    try below.+:(folder.sideOf(dir)).foreach(ops.mkdir)
    catch {
      case e: FileNotFoundException =>
        val conflict = new CommitConflictException(Seq(dir), "the folder is gone")
        conflict.addSuppressed(e)
        throw conflict
    }

  /**
   * Step 5: writes the record. Outputs that are not in their folder's staging are moved there. No
   * row is touched.
   *
   * @param record with any version, as the next one is given here
   * @param staged where each output is now, by its final relative path
   * @return the record with its version
   * @throws CommitConflictException when a folder is gone or an output is not what the record says;
   *   all is rolled back
   */
  def prepare(record: Record, staged: Map[String, Path]): Record = {
    require(prepared.isEmpty, "prepared already")
    val version = InPlaceCommitter.nextVersion(lock, record, staged.keySet)
    val numbered = record.copy(version = version, bystanders = bystanders(record))
    prepared = Some(numbered)
    orRollBack {
      val unstaged = numbered.folders.map(_.folder).filterNot(staging)
      RecoveryUnderLock.settleBelow(folder, lock, unstaged)
      writeRecord(numbered)
      moveToStaging(numbered, staged)
    }
    numbered
  }

  /**
   * The other data files in each folder. If we die, a recovery sees by them which files somebody
   * wrote afterwards.
   */
  private def bystanders(record: Record): Map[String, Seq[Bystander]] = {
    val listed = WorkerThreads.map(record.folders, threads) { work =>
      val own = (work.inputs.map(_.path) ++ work.outputs.map(_.path)).map(FileNames.name).toSet
      val others = data(ops.list(folder.resolve(work.folder))).filterNot(m => own(m.name))
      work.folder -> others.map(m => Bystander(m.name, m.length, m.modificationTime)).sortBy(_.name)
    }
    val few = listed.filter(_._2.lengthIs <= Committer.MostBystanders)
    if (few.map(_._2.length.toLong).sum > Committer.MostBystandersInAll) Map.empty else few.filter(_._2.nonEmpty).toMap
  }

  private def data(metas: Seq[FileMeta]): Seq[FileMeta] =
    metas.filter(m => !m.isDirectory && FileNames.isData(m.name))

  private def writeRecord(record: Record): Unit = {
    val pending = folder.record(record, RecordState.Pending)
    AtomicFile.put(ops, folder.newTemporary(), pending, RecordJson.write(record)) {
      Failpoints.hit("after-record-written")
    }
    Failpoints.hit("after-pending")
  }

  private def moveToStaging(record: Record, staged: Map[String, Path]): Unit = {
    SideFolderReadme.write(folder)
    WorkerThreads.each(record.folders, threads) { work =>
      lock.check()
      if (!staging(work.folder))
        make(work.folder)(folder.stagingsOf(work.folder), folder.stagingOf(work.folder, record))
      else if (!ops.exists(folder.stagingOf(work.folder, record))) throw overwrittenBy(work.folder)
      // The trash is made now, because no folder is made once files are exchanged.
      make(work.folder)(folder.trashesOf(work.folder), folder.trashOf(work.folder, record))
    }
    Failpoints.hit("after-staging-folders")
    WorkerThreads.each(record.outputs, threads) { output =>
      val (from, to) = (staged(output.path), folder.staged(output.path, record))
      if (from.toUri.getPath != to.toUri.getPath) {
        lock.check()
        ops.rename(from, to)
      }
      Failpoints.hit("after-staging-1")
      val found = ops.status(to)
      if (found.isEmpty && !ops.exists(to.getParent)) throw overwrittenBy(output.folder)
      if (!found.exists(output.isSame)) {
        throw new IOException(
          s"$to is not as it was written: this file system does not keep files as they are in a rename"
        )
      }
    }
    Failpoints.hit("after-staging-all")
  }

  private def overwrittenBy(dir: String) =
    new CommitConflictException(Seq(if (dir.isEmpty) "." else dir), "the folder was overwritten")

  /**
   * Steps 7 to 10. Before the commit point an interrupt of the caller ends the operation. After it
   * the steps come to their end, and the caller is interrupted afterwards.
   *
   * @param keepLock whether the caller goes on under the lock: then the lock and the job's staging
   *                 stay
   * @throws CommitConflictException when others changed the inputs: then all is undone
   * @throws IncompletePublishException when the file system failed, also when we tried to undo the
   *   operation
   */
  override def commit(keepLock: Boolean): Record =
    WorkerThreads.toTheEnd(s"zorder-commit-${lock.operationId}", alone = folder.threads > 1)(exchange(keepLock, _))

  private def exchange(keepLock: Boolean, interrupted: () => Boolean): Record = {
    val record = prepared.getOrElse(throw new IllegalStateException("not prepared"))
    var start = 0L
    var publish = publishing(record, Map.empty)
    orRollBack {
      Clock.waitPast(folder, record.outputs.map(_.modificationTime), sleep)
      publish = publishing(record, lastCheck(record))
      stamp(record)
      Failpoints.hit("before-commit-point")
      lock.check()
      if (interrupted()) throw new InterruptedException("interrupted before the commit point")
      start = System.nanoTime()
      ops.rename(
        folder.record(record, RecordState.Pending),
        folder.record(record, RecordState.Publishing)
      )
    }
    lock.publishing = true
    Failpoints.hit("after-commit-point")
    orUndo(record, publish)(twice(record)(publish.forward()))
    orLeave(record) {
      twice(record) {
        Failpoints.hit("before-record-done")
        lock.check()
        Publish.markDone(folder, record, (System.nanoTime() - start) / 1000000)
      }
    }
    lock.publishing = false
    Meters.trash(folder.root).addAndGet(
      record.inputs.map(_.length).sum - record.outputs.filter(_.source.isDefined).map(_.length).sum
    )
    Failpoints.hit("after-record-done")
    clean(record, keepLock)
    record
  }

  private def publishing(record: Record, bystanders: Map[String, Set[String]]): Publish =
    Publish(folder, record, bystanders, () => lock.checkInARow(), sleep)

  /**
   * Checks all inputs and the outputs' names by one listing of each folder. Returns the other data
   * files of each folder.
   */
  private def lastCheck(record: Record): Map[String, Set[String]] =
    WorkerThreads.map(record.folders, threads) { work =>
      if (!FileLocations.hasOwnFolders(folder, work.folder, record)) throw overwrittenBy(work.folder)
      val listed = ops.list(folder.resolve(work.folder))
      val found = listed.map(m => m.name -> m).toMap
      val changed = work.inputs.filterNot(i => found.get(FileNames.name(i.path)).exists(i.isSame))
      if (changed.nonEmpty)
        throw new CommitConflictException(changed.map(_.path), "they are gone, or were changed or replaced")
      val taken = work.outputs.filter(o => found.contains(FileNames.name(o.path)))
      if (taken.nonEmpty) throw new CommitConflictException(taken.map(_.path), "files of these names exist already")
      work.folder -> (data(listed).map(_.name).toSet -- work.inputs.map(i => FileNames.name(i.path)))
    }.toMap

  /**
   * Sets the record's time to that of the commit point. If we die, a recovery reads in it when
   * publishing began.
   */
  private def stamp(record: Record): Unit =
    try ops.touch(folder.record(record, RecordState.Pending))
    catch { case e: IOException => log.warn(s"cannot set the time of the record of version ${record.version}", e) }

  /** Rolls back an operation before [[commit]]. If that fails its lock file stays. */
  def abort(): Unit =
    try prepared match {
        case Some(record) => rollBack(record)
        case None         =>
          Cleanup.job(folder, lock.operationId)
          dropStaging()
      }
    catch {
      case e: IOException =>
        log.warn(s"cannot roll back in ${folder.root}, the next statement will", e)
        lock.abandon()
      case e @ (_: LockLostException | _: RecoveryUnclearException) =>
        log.warn(s"cannot roll back in ${folder.root}", e)
        lock.abandon()
    }

  private def rollBack(record: Record): Unit = {
    lock.check()
    // What is gone from now on was removed by ourselves.
    staging = Set.empty
    def is(state: RecordState): Boolean = ops.exists(folder.record(record, state))
    // The rename at the commit point may have taken effect although it failed.
    if (is(RecordState.Publishing))
      publishing(record, Map.empty).undo("the file system failed at the commit point")
    else if (is(RecordState.Undoing)) Cleanup.undoing(folder, followed(record))
    else if (is(RecordState.Pending)) Cleanup.pending(folder, followed(record))
    Cleanup.job(folder, record.operationId)
  }

  /** Somebody may have renamed folders. Files that RESTORE took from a trash must return to it. */
  private def followed(record: Record): Record =
    if (record.outputs.forall(_.source.isEmpty)) record
    else StrayFolders.followed(folder, record, withoutLost = true).record

  private def orRollBack(step: => Unit): Unit =
    try step
    catch {
      case e: LockLostException => overtaken(prepared, e)
      case e: Exception         =>
        abort()
        throw e
    }

  private def orUndo(record: Record, publish: Publish)(step: => Unit): Unit =
    try step
    catch {
      case e @ (_: IOException | _: CommitConflictException | _: UnclearException) => undo(record, publish, e)
      case e: LockLostException                                                    => overtaken(Some(record), e)
    }

  private def undo(record: Record, publish: Publish, why: Throwable): Nothing = {
    try {
      publish.undo(why.getMessage)
      Cleanup.job(folder, record.operationId)
    } catch {
      case lost: LockLostException     => overtaken(Some(record), lost)
      case e: RecoveryUnclearException => throw e
      case failed: IOException         =>
        why.addSuppressed(failed)
        orOvertaken(record)(lock.check())
        leave(record, why)
    }
    throw why
  }

  private def twice(record: Record)(step: => Unit): Unit =
    try step
    catch {
      case e: IOException =>
        log.warn(s"publishing version ${record.version} of ${folder.root} failed, trying once more", e)
        step
    }

  private def orLeave(record: Record)(step: => Unit): Unit = orOvertaken(record) {
    try step
    catch { case e: IOException => leave(record, e) }
  }

  private def orOvertaken(record: Record)(step: => Unit): Unit =
    try step
    catch { case e: LockLostException => overtaken(Some(record), e) }

  private def leave(record: Record, why: Throwable): Nothing = {
    lock.abandon()
    throw new IncompletePublishException(folder.record(record, RecordState.Publishing), why)
  }

  /**
   * The lock is gone. If the record is still there, another process has taken over, and we touch
   * nothing. If it is gone as well, somebody has overwritten the whole table, and our outputs that
   * are there have rows of the old table.
   */
  private def overtaken(record: Option[Record], lost: LockLostException): Nothing = {
    lock.abandon()
    if (record.isEmpty) dropStaging()
    record.foreach { r =>
      val gone =
        try !ops.exists(lock.path) && !SideListing.records(Listing.now(folder, sleep)).exists(_.version == r.version)
        catch {
          case e: IOException =>
            lost.addSuppressed(e)
            false
        }
      if (gone) {
        try removeOutputs(r)
        catch { case e: IOException => lost.addSuppressed(e) }
        throw new CommitConflictException(Seq("."), CommitConflictException.Overwritten)
      }
    }
    throw lost
  }

  /**
   * Removes the job's files while there is no record. If manifest and lock are gone, nobody else
   * would remove them.
   */
  private def dropStaging(): Unit =
    try if (!ops.exists(lock.path) && !ops.exists(folder.manifest(lock.operationId))) {
        staging.foreach { dir =>
          val mine = folder.stagingOf(dir, lock.operationId)
          if (ops.exists(mine)) ops.deleteRecursive(mine)
          ops.deleteEmpty(folder.stagingsOf(dir))
          ops.deleteEmpty(folder.sideOf(dir))
        }
      }
    catch { case e: IOException => log.warn(s"cannot remove what the job wrote in ${folder.root}", e) }

  private def removeOutputs(record: Record): Unit = {
    // A folder that still has its staging was not overwritten (yet). Its inputs return.
    try Publish(folder, record, Map.empty, () => (), sleep).back()
    catch { case e: RecoveryUnclearException => log.warn("not all could be put back", e) }
    FileLocations.of(folder, record).folders.foreach { found =>
      if (found.overwritten) found.work.outputs.foreach { output =>
        // An output that is gone may have left its checksum file.
        if (found.isOut(output) || !found.inPlace.contains(output.path)) ops.delete(folder.resolve(output.path))
      }
      else found.work.outputs.foreach(Cleanup.unstage(folder, record, _))
    }
    Cleanup.done(folder, record)
  }

  private def clean(record: Record, keepLock: Boolean): Unit = {
    try {
      Cleanup.done(folder, record)
      val statuses = ops.list(folder.side)
      IndexFiles.prune(folder, statuses)
      UndoneRecords.prune(folder, lock, statuses)
      if (!keepLock) Cleanup.job(folder, record.operationId)
      Checkpoints.fold(folder, lock, history)
      Failpoints.hit("after-clean")
    } catch {
      // All rows are in place. The abandoned lock tells the next statement that something is left
      // over.
      case e: IOException =>
        log.warn(s"cannot clean up in ${folder.root}", e)
        lock.abandon()
      case e: LockLostException =>
        log.warn(s"cannot clean up in ${folder.root}: another does", e)
        lock.abandon()
    }
    if (!keepLock) lock.release()
  }
}

private object Committer {

  /** A record lists no more bystanders than these, in one folder and in all folders. */
  private val MostBystanders = 1000
  private val MostBystandersInAll = 100000L
}
