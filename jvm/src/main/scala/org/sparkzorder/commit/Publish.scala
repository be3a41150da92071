package org.sparkzorder.commit

import java.io.IOException

import org.slf4j.LoggerFactory

import org.sparkzorder.commit.Publish.Elsewhere

/**
 * Exchanges the files of a record that is past its commit point, forward or back: folder by folder,
 * several side by side.
 *
 * @param unclear folders in which nobody can tell what is right: they are left as they are
 * @param guard called before every rename; throws when we may no longer touch the table
 */
private[commit] final class Publish private (
    folder: TableFolder,
    record: Record,
    exchanges: Seq[FolderExchange],
    unclear: Seq[String],
    guard: () => Unit,
    sleep: Long => Unit
) {
  private val ops = folder.ops
  private val log = LoggerFactory.getLogger(classOf[Publish])

  private val threads = Publish.threadsOf(folder)

  /**
   * Publishes all outputs and retires all inputs.
   *
   * @throws CommitConflictException when a file is not what the record says: then all must go back
   * @throws UnclearException when somebody may have overwritten a folder: then all others must go
   *   back
   */
  def forward(): Unit = {
    WorkerThreads.each(exchanges, threads)(_.forward())
    Failpoints.hit("publish-rest-all")
    WorkerThreads.each(exchanges, threads)(_.confirm())
    elsewhere(exchanges.filter(_.isMoved)).foreach { there =>
      val locations = there.locations.folders.filterNot(f => f.absent || f.overwritten)
      if (FileLocations(locations).canFinish) left(there, locations).forward()
      else if (locations.nonEmpty) throw new CommitConflictException(locations.map(_.work.folder), Publish.Moved)
    }
    warn()
  }

  private def left(there: Elsewhere, folders: Seq[FolderLocations]): Publish =
    Publish.left(folder, there.record, FileLocations(folders), byChoice = false, guard, sleep)

  /**
   * The part of the record that is in other folders than the record says, or came back to the folders
   * of these exchanges. Somebody may have moved or swapped folders while we moved files in them.
   */
  private def elsewhere(suspects: Seq[FolderExchange]): Option[Elsewhere] = if (suspects.isEmpty) None
  else {
    val dirs = suspects.map(_.work.folder).toSet
    val all = StrayFolders.located(folder, record, sleep, withoutLost = true)(FileLocations.steady(folder, _, sleep))
    val folders =
      all.locations.folders.filter(f => all.moved(f.work.folder) || dirs(f.work.folder) && f.hasOwnFolders)
    val works = folders.map(_.work)
    Option.when(folders.nonEmpty) {
      val there = all.record.copy(inputs = works.flatMap(_.inputs), outputs = works.flatMap(_.outputs))
      Elsewhere(there, FileLocations(folders))
    }
  }

  private def warn(): Unit = exchanges.foreach { exchange =>
    val what = s"${folder.resolve(exchange.work.folder)} was %s while version ${record.version} was published. "
    if (exchange.isOverwritten) log.warn(
      what.format(
        "overwritten or emptied"
      ) + s"It stays as it is. ${exchange.work.inputs.size} files of before, as far as " +
        "they were retired, are in its trash until VACUUM deletes them."
    )
    else if (exchange.isMoved)
      log.warn(
        what.format("moved, replaced or deleted") + "Files of it that are elsewhere in the table were settled there."
      )
  }

  /**
   * Takes everything back, and marks the record as undone.
   *
   * @param why one sentence for `DESCRIBE HISTORY`
   * @param by the process that undoes it, if its owner is dead
   */
  def undo(why: String, by: Option[String] = None): Unit = {
    back()
    guard()
    ops.rename(
      folder.record(record, RecordState.Publishing),
      folder.record(record, RecordState.Undoing)
    )
    Failpoints.hit("undo-record")
    Outcome.note(folder, record, why, by)
    Cleanup.undoing(folder, record)
  }

  /**
   * Files return to where they were. Where they are now decides, not what was done: a call that
   * failed may have taken effect.
   *
   * @throws RecoveryUnclearException when some may not or cannot return; all others have returned
   */
  def back(): Unit = {
    val found = FileLocations.of(folder, record).folders.map(f => f.work.folder -> f).toMap
    WorkerThreads.each(exchanges.filterNot(_.isUnclear), threads) { exchange =>
      val now = found(exchange.work.folder)
      if (exchange.isOverwritten || !now.overwritten && !now.isElsewhere && !now.isOver) {
        try exchange.back(now)
        catch { case _: UnclearException => () }
      }
    }
    elsewhere(exchanges.filter(e => e.isMoved || !e.isOverwritten && found(e.work.folder).isLost)).foreach { there =>
      // Rows that somebody deleted from new files must not come back with the old ones.
      val (deleted, others) = there.locations.folders.partition(_.onlyForward)
      left(there, others).back()
      others.flatMap(_.work.outputs).foreach(Cleanup.unstage(folder, there.record, _))
      if (deleted.nonEmpty) throw new RecoveryUnclearException(folder.root, record.version, deleted.map(_.describe))
    }
    warn()
    Failpoints.hit("undo-outputs")
    val stuck = exchanges.filter { exchange =>
      exchange.isUnclear || !found(exchange.work.folder).isOver && !exchange.isOverwritten && exchange.isStuck
    }
    val others = unclear ++ stuck.map(_.work.folder)
    if (others.nonEmpty) {
      val now = FileLocations.of(folder, record).folders.filter(f => others.contains(f.work.folder) && !f.overwritten)
      if (now.nonEmpty) throw new RecoveryUnclearException(folder.root, record.version, now.map(_.describe))
    }
  }
}

private[commit] object Publish {

  /** A part of the record with the folders in which it is now, and where its files are there. */
  private final case class Elsewhere(record: Record, locations: FileLocations)

  private val Moved = "the folder was moved, and files in it were deleted or changed"

  // At a failpoint, no other thread may go on.
  private def threadsOf(folder: TableFolder): Int = if (Failpoints.isSet) 1 else folder.threads

  /** How many threads move files in one folder, if so many folders are exchanged side by side. */
  private def threadsInOne(folder: TableFolder, folders: Int): Int =
    math.max(1, threadsOf(folder) / math.max(1, folders))

  /**
   * @param bystanders by folder, names of data files that are there and are no files of the record
   */
  def apply(
      folder: TableFolder,
      record: Record,
      bystanders: Map[String, Set[String]],
      guard: () => Unit,
      sleep: Long => Unit
  ): Publish = {
    val threads = threadsInOne(folder, record.folders.size)
    val exchanges = record.folders.map { work =>
      val others = bystanders.getOrElse(work.folder, Set.empty[String])
      new FolderExchange(
        folder,
        record,
        work,
        known = work.inputs.map(_.path),
        deleted = Nil,
        bystanders = others,
        timed = true,
        byChoice = false,
        guard,
        sleep,
        threads
      )
    }
    new Publish(folder, record, exchanges, Nil, guard, sleep)
  }

  /**
   * For what a dead owner left. Folders that are not ours any more are left alone.
   *
   * @param byChoice whether somebody has chosen to bring back the unclear folders as well
   */
  def left(
      folder: TableFolder,
      record: Record,
      locations: FileLocations,
      byChoice: Boolean,
      guard: () => Unit,
      sleep: Long => Unit
  ): Publish = {
    def exchange(byChoice: Boolean)(found: FolderLocations) =
      new FolderExchange(
        folder,
        record,
        found.work,
        known = found.visible,
        deleted = found.missing,
        bystanders = found.others.map(_.name).toSet,
        found.timed,
        byChoice,
        guard,
        sleep,
        threadsInOne(folder, locations.folders.size)
      )
    // Nothing can be brought back into a folder that is gone.
    val (wanted, unclear) = if (byChoice) locations.unclear.partition(!_.absent) else (Nil, locations.unclear)
    val exchanges = locations.ours.map(exchange(byChoice = false)) ++ wanted.map(exchange(byChoice = true))
    new Publish(folder, record, exchanges, unclear.map(_.work.folder), guard, sleep)
  }

  /** Gives these folders up: they stay as somebody has made them. */
  def giveUp(folder: TableFolder, record: Record, folders: Seq[FolderLocations], guard: () => Unit): Unit =
    WorkerThreads.each(folders, folder.threads) { found =>
      guard()
      // What is visible stays.
      Cleanup.withdrawn(folder, record, found.work)
    }

  /**
   * The last rename of an exchange: the record becomes part of the history. A rename that failed
   * may have taken effect.
   */
  def markDone(folder: TableFolder, record: Record, publishMillis: Long): Unit = {
    val done = folder.published(record, publishMillis)
    try folder.ops.rename(folder.record(record, RecordState.Publishing), done)
    catch {
      case e: IOException =>
        def files = SideListing.records(folder.ops.list(folder.side))
        if (!folder.ops.exists(done) && !files.exists(f => f.version == record.version && f.state == RecordState.Done))
          throw e
    }
  }
}
