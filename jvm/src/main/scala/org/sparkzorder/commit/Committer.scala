package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/**
 * Brings one operation's files into the table, by `docs/design/commit.md`. Used once: [[prepare]], then [[commit]] or
 * [[abort]].
 * Whatever happens, the caller calls `lock.release()` in the end; it leaves the lock where something must be recovered.
 *
 * @param sleep how to wait for the file system's clock, in milliseconds
 * @param history how many records stay files, and for how long they are kept
 */
final class Committer(
    folder: TableFolder,
    lock: Lock,
    sleep: Long => Unit = Thread.sleep(_),
    history: HistorySettings = HistorySettings()
) {
  private val ops = folder.ops
  private val log = LoggerFactory.getLogger(classOf[Committer])
  private var prepared: Option[Record] = None

  private var staging: Set[String] = Set.empty

  /**
   * Step 3: makes the staging of each folder that the job writes to. Nobody's rows are touched.
   *
   * @param dirs relative to the root
   * @throws CommitConflictException when one of the folders is gone
   * @throws ConcurrentOperationException when an operation is running on a table over one of them
   */
  def stage(dirs: Seq[String]): Unit = orRollBack {
    NestedRoots.settleBelow(folder, lock, dirs)
    Manifest.write(folder, lock.operationId, dirs)
    Failpoints.hit("after-manifest")
    dirs.foreach { dir =>
      lock.check()
      make(dir)(folder.stagingsOf(dir), folder.stagingOf(dir, lock.operationId))
    }
    staging = dirs.toSet
    Failpoints.hit("after-stage-folders")
  }

  /** Folders that somebody has overwritten since [[stage]], with the files that the job wrote there. */
  def overwritten(): Seq[String] = staging.toSeq.sorted.filterNot { dir =>
    ops.exists(folder.stagingOf(dir, lock.operationId))
  }

  /** Makes folders below a data folder's side folder, one by one: the data folder itself must not come back. */
  private def make(dir: String)(below: Path*): Unit =
    try (folder.sideOf(dir) +: below).foreach(ops.mkdir)
    catch {
      case e: FileNotFoundException =>
        val conflict = new CommitConflictException(Seq(dir), "the folder was deleted by another")
        conflict.addSuppressed(e)
        throw conflict
    }

  /**
   * Step 5: writes the record. Outputs that lie elsewhere than in their folder's staging are moved there. Nobody's rows
   * are touched.
   *
   * @param record with any version: the next one is given here
   * @param staged where each output lies now, by its final relative path
   * @return the record with its version
   * @throws CommitConflictException when a folder is gone or an output is not what the record says; all is rolled back
   */
  def prepare(record: Record, staged: Map[String, Path]): Record = {
    require(prepared.isEmpty, "prepared already")
    require(
      record.operationId == lock.operationId,
      s"the lock is held by ${lock.operationId}, not by ${record.operationId}"
    )
    require(staged.keySet == record.outputs.map(_.path).toSet, "the staged files are not the record's outputs")
    Record.fault(record).foreach(why => throw new IllegalArgumentException(why))
    Failpoints.hit("after-staging")
    val listing = lock.listing()
    val underWay = TableFolder.records(listing).find(_.state != RecordState.Undone).fold(0L)(_.version)
    val newest = math.max(underWay, TableFolder.newestPublished(listing))
    if (newest >= TableFolder.MaxVersion) throw new IOException(s"no version comes after $newest")
    val numbered = record.copy(version = newest + 1)
    prepared = Some(numbered)
    orRollBack {
      val unstaged = numbered.folders.map(_.folder).filterNot(staging)
      NestedRoots.settleBelow(folder, lock, unstaged)
      writeRecord(numbered)
      deal(numbered, staged)
    }
    numbered
  }

  private def writeRecord(record: Record): Unit = {
    val temporary = folder.newTemporary()
    try {
      ops.writeNew(temporary, RecordJson.write(record))
      Failpoints.hit("after-record-written")
      ops.rename(temporary, folder.record(record.version, RecordState.Pending))
    } catch {
      case e: IOException =>
        try ops.delete(temporary)
        catch { case also: IOException => e.addSuppressed(also) }
        throw e
    }
    Failpoints.hit("after-pending")
  }

  private def deal(record: Record, staged: Map[String, Path]): Unit = {
    SideFolderReadme.write(folder)
    record.folders.foreach { work =>
      lock.check()
      if (!staging(work.folder))
        make(work.folder)(folder.stagingsOf(work.folder), folder.stagingOf(work.folder, record.operationId))
      else if (!ops.exists(folder.stagingOf(work.folder, record.operationId))) throw overwrittenBy(work.folder)
      // Made now: nothing makes folders once files are exchanged.
      make(work.folder)(folder.trashesOf(work.folder), folder.trashOf(work.folder, record))
    }
    Failpoints.hit("after-deal-folders")
    record.outputs.foreach { output =>
      val (from, to) = (staged(output.path), folder.staged(output.path, record.operationId))
      if (from.toUri.getPath != to.toUri.getPath) {
        lock.check()
        ops.rename(from, to)
      }
      Failpoints.hit("after-deal-1")
      val found = ops.status(to)
      if (found.isEmpty && !ops.exists(to.getParent)) throw overwrittenBy(output.folder)
      if (!found.exists(output.isSame)) {
        throw new IOException(
          s"$to is not as it was written: this file system does not keep files as they are in a rename"
        )
      }
    }
    Failpoints.hit("after-deal-all")
  }

  private def overwrittenBy(dir: String) =
    new CommitConflictException(Seq(if (dir.isEmpty) "." else dir), "the folder was overwritten by another")

  /**
   * Steps 7 to 10.
   *
   * @param keepLock whether the operation goes on under the lock: then it and its job's staging stay
   * @throws CommitConflictException when others changed the inputs; all is undone
   * @throws IncompletePublishException when the file system failed past the last point of return
   */
  def commit(keepLock: Boolean = false): Record = {
    val record = prepared.getOrElse(throw new IllegalStateException("not prepared"))
    val publish = new Publish(folder, record, () => lock.check())
    var start = 0L
    orRollBack {
      Clock.waitPast(folder, record.outputs.map(_.modificationTime), sleep)
      lastCheck(record)
      stamp(record)
      Failpoints.hit("before-commit-point")
      lock.check()
      start = System.nanoTime()
      ops.rename(
        folder.record(record.version, RecordState.Pending),
        folder.record(record.version, RecordState.Publishing)
      )
    }
    lock.publishing = true
    Failpoints.hit("after-commit-point")
    orUndo(record, publish)(publish.exchange(record.folders))
    orLeave(record, publish) {
      publish.finish(record.folders)
      Failpoints.hit("before-record-done")
      lock.check()
      Committer.markDone(folder, record, (System.nanoTime() - start) / 1000000)
    }
    lock.publishing = false
    Meters.trash(folder.root).addAndGet(
      record.inputs.map(_.length).sum - record.outputs.filter(_.source.isDefined).map(_.length).sum
    )
    Failpoints.hit("after-record-done")
    clean(record, keepLock)
    record
  }

  private def lastCheck(record: Record): Unit =
    record.folders.foreach { work =>
      if (Survey.isOverwritten(folder, work.folder, record)) throw overwrittenBy(work.folder)
      val found = ops.list(folder.resolve(work.folder)).map(m => m.name -> m).toMap
      val changed = work.inputs.filterNot(i => found.get(TableFolder.name(i.path)).exists(i.isSame))
      if (changed.nonEmpty)
        throw new CommitConflictException(changed.map(_.path), "files were changed or deleted by another")
      val taken = work.outputs.filter(o => found.contains(TableFolder.name(o.path)))
      if (taken.nonEmpty) throw new CommitConflictException(taken.map(_.path), "files of these names exist already")
    }

  /** The record's time is that of the commit point: if we die, a recovery tells by it how long the publishing took. */
  private def stamp(record: Record): Unit =
    try ops.touch(folder.record(record.version, RecordState.Pending))
    catch { case e: IOException => log.warn(s"cannot set the time of the record of version ${record.version}", e) }

  /** Rolls back an operation that has not come to [[commit]]. Its lock stays if that fails. */
  def abort(): Unit =
    try prepared match {
        case Some(record) => rollBack(record)
        case None         => Cleanup.job(folder, lock.operationId)
      }
    catch {
      case e: IOException =>
        log.warn(s"cannot roll back in ${folder.root}, the next statement will", e)
        lock.abandon()
      case e: LockLostException =>
        log.warn(s"cannot roll back in ${folder.root}: another does", e)
        lock.abandon()
    }

  private def rollBack(record: Record): Unit = {
    lock.check()
    def is(state: RecordState): Boolean = ops.exists(folder.record(record.version, state))
    // The commit point may have been passed by a rename that said otherwise.
    if (is(RecordState.Publishing))
      new Publish(folder, record, () => lock.check()).undo("the file system failed at the commit point")
    else if (is(RecordState.Undoing)) Cleanup.undoing(folder, record)
    else if (is(RecordState.Pending)) Cleanup.pending(folder, record)
    Cleanup.job(folder, record.operationId)
  }

  private def orRollBack(step: => Unit): Unit =
    try step
    catch {
      case e @ (_: IOException | _: CommitConflictException) =>
        abort()
        throw e
      case e: LockLostException => overtaken(prepared, e)
    }

  private def orUndo(record: Record, publish: Publish)(step: => Unit): Unit =
    try step
    catch {
      case e @ (_: IOException | _: CommitConflictException) => undo(record, publish, e)
      case e: LockLostException                              => overtaken(Some(record), e)
    }

  private def undo(record: Record, publish: Publish, why: Throwable): Nothing = {
    try {
      publish.undo(why.getMessage)
      Cleanup.job(folder, record.operationId)
    } catch {
      case failed: IOException =>
        lock.abandon()
        why.addSuppressed(failed)
      case lost: LockLostException => overtaken(Some(record), lost)
    }
    throw why
  }

  private def orLeave(record: Record, publish: Publish)(step: => Unit): Unit =
    try {
      try step
      catch {
        case e: IOException =>
          log.warn(s"publishing version ${record.version} of ${folder.root} failed, trying once more", e)
          step
      }
    } catch {
      case e: IOException =>
        lock.abandon()
        throw new IncompletePublishException(folder.record(record.version, RecordState.Publishing), e)
      case e: CommitConflictException => undo(record, publish, e)
      case e: LockLostException       => overtaken(Some(record), e)
    }

  /**
   * The lock is gone. Either another took over, then all is his; or, when there is no record either, the whole table
   * was
   * overwritten under us, and outputs that came to lie there since are rows of the table that is no more.
   */
  private def overtaken(record: Option[Record], lost: LockLostException): Nothing = {
    lock.abandon()
    record.foreach { r =>
      val gone =
        try !ops.exists(lock.path) && !TableFolder.records(Listing.now(folder, sleep)).exists(_.version == r.version)
        catch {
          case e: IOException =>
            lost.addSuppressed(e)
            false
        }
      if (gone) {
        try removeOutputs(r)
        catch { case e: IOException => lost.addSuppressed(e) }
        throw new CommitConflictException(Seq("."), "the whole table was overwritten by another")
      }
    }
    throw lost
  }

  private def removeOutputs(record: Record): Unit = {
    val survey = Survey.of(folder, record)
    // A folder that still has its staging was not overwritten (yet): it gets back what it had.
    new Publish(folder, record, () => ()).back(survey)
    survey.folders.filter(_.overwritten).foreach { found =>
      found.work.outputs.foreach { output =>
        if (found.inPlace.get(output.path).exists(output.isSame)) ops.delete(folder.resolve(output.path))
      }
    }
    survey.kept.foreach(_.work.outputs.foreach(Cleanup.unstage(folder, record, _)))
    Cleanup.done(folder, record)
  }

  private def clean(record: Record, keepLock: Boolean): Unit = {
    try {
      Cleanup.done(folder, record)
      IndexFiles.prune(folder)
      Undone.prune(folder, lock)
      if (!keepLock) Cleanup.job(folder, record.operationId)
      Checkpoints.fold(folder, lock, history)
      Failpoints.hit("after-clean")
    } catch {
      // All rows are in place. What is left over keeps its lock beside it, so that the next statement finds it.
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

private[commit] object Committer {

  /** Step 9: the record becomes part of the history. */
  def markDone(folder: TableFolder, record: Record, publishMillis: Long): Unit = {
    val done = folder.published(record.version, publishMillis)
    try folder.ops.rename(folder.record(record.version, RecordState.Publishing), done)
    catch {
      case e: IOException =>
        def files = TableFolder.records(folder.ops.list(folder.side))
        if (!folder.ops.exists(done) && !files.exists(f => f.version == record.version && f.state == RecordState.Done))
          throw e
    }
  }
}
