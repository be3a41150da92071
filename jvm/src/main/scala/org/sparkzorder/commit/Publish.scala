package org.sparkzorder.commit

import java.io.IOException

import org.slf4j.LoggerFactory

/**
 * Exchanges the files of a record that is past its commit point, folder by folder, several side by side: forward, or
 * back.
 *
 * @param unclear folders in which nobody can tell what is right: they are left as they are
 * @param guard asked before every rename; throws when we may no longer touch the table
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
   * All outputs come, all inputs go.
   *
   * @throws CommitConflictException when a file is not what the record says; the way is back then
   * @throws UnclearException when somebody may have overwritten a folder; the way is back then, but for that folder
   */
  def forward(): Unit = {
    WorkerThreads.each(exchanges, threads)(_.forward())
    Failpoints.hit("publish-rest-all")
    WorkerThreads.each(exchanges, threads)(_.confirm())
    follow(exchanges.filter(_.isTheirs).map(_.work)) { (there, survey) =>
      if (survey.canFinish) Publish.left(folder, there, survey, asked = false, guard, sleep).forward()
    }
    warn(exchanges.filter(_.isTheirs).map(_.work))
  }

  /** Somebody may have moved a folder to another place in the table while we were at it. */
  private def follow(suspects: Seq[FolderWork])(settle: (Record, FileLocations) => Unit): Unit =
    if (suspects.exists(work => !ops.exists(folder.resolve(work.folder)))) {
      val named = record.folders.map(_.folder).toSet
      val strays = StrayFolders.followed(folder, record).folders.filterNot(w => named(w.folder))
      if (strays.nonEmpty) {
        val there = record.copy(inputs = strays.flatMap(_.inputs), outputs = strays.flatMap(_.outputs))
        settle(there, FileLocations.of(folder, there))
        Cleanup.done(folder, there)
      }
    }

  private def warn(theirs: Seq[FolderWork]): Unit = theirs.foreach { work =>
    log.warn(
      s"${folder.resolve(work.folder)} was overwritten or emptied while version ${record.version} was published. It stays as " +
        s"it is. ${work.inputs.size} files of before, as far as they were retired, are in its trash until VACUUM deletes them."
    )
  }

  /**
   * All the way back, after which the record is one of an operation that was undone.
   *
   * @param why in one sentence, and who undoes it if its owner is dead, for `DESCRIBE HISTORY`
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
   * Files return to where they were. It goes by where they are, not by what was done: a call that failed may have taken
   * effect.
   *
   * @throws RecoveryUnclearException when not all may, or can; the rest did
   */
  def back(): Unit = {
    val found = FileLocations.of(folder, record).folders.map(f => f.work.folder -> f).toMap
    WorkerThreads.each(exchanges.filterNot(_.isUnclear), threads) { exchange =>
      val now = found(exchange.work.folder)
      if (exchange.isTheirs || !now.overwritten && !now.absent && !now.isOver) {
        try exchange.back(now)
        catch { case _: UnclearException => () }
      }
    }
    follow(found.values.filter(_.absent).map(_.work).toSeq) { (there, survey) =>
      Publish.left(folder, there, survey, asked = false, guard, sleep).back()
      there.outputs.foreach(Cleanup.unstage(folder, there, _))
    }
    warn(exchanges.filter(_.isTheirs).map(_.work))
    Failpoints.hit("undo-outputs")
    val stuck = exchanges.filter { exchange =>
      exchange.isUnclear || !found(exchange.work.folder).isOver && !exchange.isTheirs && exchange.isStuck
    }
    val others = unclear ++ stuck.map(_.work.folder)
    if (others.nonEmpty) {
      val now = FileLocations.of(folder, record).folders.filter(f => others.contains(f.work.folder) && !f.overwritten)
      if (now.nonEmpty) throw new RecoveryUnclearException(folder.root, record.version, now.map(_.describe))
    }
  }
}

private[commit] object Publish {

  // At a failpoint all is to stand still.
  private def threadsOf(folder: TableFolder): Int = if (Failpoints.isSet) 1 else folder.threads

  /** How many move files in one folder when so many are exchanged side by side. */
  private def handsOf(folder: TableFolder, folders: Int): Int = math.max(1, threadsOf(folder) / math.max(1, folders))

  /** @param bystanders by folder, names of data files that are there and are no files of the record */
  def apply(
      folder: TableFolder,
      record: Record,
      bystanders: Map[String, Set[String]],
      guard: () => Unit,
      sleep: Long => Unit
  ): Publish = {
    val hands = handsOf(folder, record.folders.size)
    val exchanges = record.folders.map { work =>
      val others = bystanders.getOrElse(work.folder, Set.empty[String])
      new FolderExchange(folder, record, work, work.inputs.map(_.path), Nil, others, true, false, guard, sleep, hands)
    }
    new Publish(folder, record, exchanges, Nil, guard, sleep)
  }

  /**
   * What a dead owner left. Folders that are not ours any more are left alone.
   *
   * @param asked whether those come back, too, in which nobody can tell what is right
   */
  def left(
      folder: TableFolder,
      record: Record,
      survey: FileLocations,
      asked: Boolean,
      guard: () => Unit,
      sleep: Long => Unit
  ): Publish = {
    def exchange(asked: Boolean)(found: FolderLocations) = {
      val others = found.others.map(_.name).toSet
      new FolderExchange(
        folder,
        record,
        found.work,
        found.visible,
        found.missing,
        others,
        found.timed,
        asked,
        guard,
        sleep,
        handsOf(folder, survey.folders.size)
      )
    }
    // Nothing can be brought back into a folder that is gone.
    val (wanted, unclear) = if (asked) survey.unclear.partition(!_.absent) else (Nil, survey.unclear)
    val exchanges = survey.ours.map(exchange(asked = false)) ++ wanted.map(exchange(asked = true))
    new Publish(folder, record, exchanges, unclear.map(_.work.folder), guard, sleep)
  }

  /** Leaves these folders to whoever has made them what they are. */
  def giveUp(folder: TableFolder, record: Record, folders: Seq[FolderLocations], guard: () => Unit): Unit =
    WorkerThreads.each(folders, folder.threads) { found =>
      guard()
      // What is visible stays.
      Cleanup.withdrawn(folder, record, found.work)
    }

  /** Step 9: the record becomes part of the history. */
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
