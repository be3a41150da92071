package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.util.UUID

import org.slf4j.LoggerFactory

/** What a recovery did, in words for the log. */
final case class Recovered(actions: Seq[String]) {
  def isNothing: Boolean = actions.isEmpty
}

/**
 * A table as a query may read it.
 *
 * @param around how to read around what is half done; None when nothing is
 * @param exchanging whether files were being exchanged when we came: then a listing made before is to be made anew
 */
final case class ReadableState(state: TableState, around: Option[ReadAround], exchanging: Boolean)

/** What to do with folders of which nobody can tell what is right. */
sealed trait Choice
object Choice {

  /** Refuses and says what there is. */
  case object Ask extends Choice

  /** What is visible there is right. What waits in the trash stays there until VACUUM. */
  case object KeepVisible extends Choice

  /** The files of before the operation come back beside what is visible there. */
  case object BringBack extends Choice
}

/** Finishes or undoes what a dead owner left half done. */
object Recovery {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.Recovery")

  /** In one query. A recovery that ends well time and again and changes nothing must not stop it for good. */
  private val MostRecoveries = 5

  /** Whether something lies there that nobody living stands behind. */
  def isNeeded(state: TableState.SideFolder, settings: LockSettings = LockSettings()): Boolean =
    state.isBusy && (state.lockState(settings) match {
      case LockState.Live(_) => false
      case LockState.Dead(_) => true
      case LockState.NoLock  => state.underWay
    })

  /**
   * Takes the lock, recovers, gives it back. Without anything to do it only lists.
   *
   * @throws ConcurrentOperationException when a living owner has the lock
   * @throws RecoveryUnclearException when somebody has to choose
   * @throws java.io.IOException when we may not write there: see [[ReadAround]]
   */
  def recover(folder: TableFolder, settings: LockSettings = LockSettings(), choice: Choice = Choice.Ask): Recovered =
    if (!isNeeded(folder, settings) && !NestedRoots.above(folder).exists(isNeeded(_, settings))) Recovered(Nil)
    else {
      val lock = Locking.acquire(folder, s"recover-${UUID.randomUUID()}", settings, "RECOVER")
      try recoverUnder(folder, lock, settings, choice)
      finally lock.release()
    }

  private def isNeeded(folder: TableFolder, settings: LockSettings): Boolean =
    TableState.look(folder.root, folder.ops) match {
      case state: TableState.SideFolder => isNeeded(state, settings)
      case TableState.NoSideFolder      => false
    }

  /**
   * Recovers under a lock held, as every statement does before it starts. If it fails the lock is abandoned, so that
   * the next
   * statement tries again.
   */
  def recoverUnder(
      folder: TableFolder,
      lock: Lock,
      settings: LockSettings = LockSettings(),
      choice: Choice = Choice.Ask
  ): Recovered = {
    var finished = false
    try {
      val actions = above(lock, settings) ++ here(lock, settings, lock.operationId, "", choice)
      // Those who were at this table; others' locks above are gone.
      lock.outer.foreach(outer => outer.others.foreach(dead => folder.ops.delete(dead.path)))
      finished = true
      actions.foreach(a => log.warn(s"Recovery of ${folder.root}: $a"))
      Recovered(actions)
    } catch {
      // What is half done has its record.
      case e: RecoveryUnclearException =>
        finished = true
        throw e
    } finally if (!finished) lock.abandon()
  }

  /**
   * What dead owners left in the tables above, which share folders with this one. Tables beside ours may be at it, too,
   * so it takes a lock that hinders them.
   */
  private def above(lock: Lock, settings: LockSettings): Seq[String] = lock.outer.flatMap { outer =>
    val isOurs = (o: Option[Owner]) => o.exists(_.root == outer.owner.root)
    val needed = outer.others.exists(dead => !isOurs(Owner.read(outer.folder.ops, dead))) ||
      (TableState.look(outer.folder.root, outer.folder.ops) match {
        case state: TableState.SideFolder => state.underWay
        case TableState.NoSideFolder      => false
      })
    if (!needed) Nil
    else {
      val whole = Locking.acquireHere(outer.folder, settings, lock.operationId)
      try here(whole, settings, lock.operationId, outer.owner.root)
      finally whole.release()
    }
  }

  /**
   * What dead owners left in one table and in those below it that they worked on.
   *
   * @param forOperation that holds locks above or below already
   * @param except the table below that is recovered afterwards, and whose dead owners' locks stay until then
   */
  private def here(
      lock: Lock,
      settings: LockSettings,
      forOperation: String,
      except: String,
      choice: Choice = Choice.Ask
  ): Seq[String] = {
    val owners = lock.others.map(dead => dead -> Owner.read(lock.folder.ops, dead))
    val (below, own) = owners.partition(_._2.exists(_.root.nonEmpty))
    val inners = below.filterNot(_._2.exists(_.root == except))
    removeLocks(lock, settings, own) ++ inner(lock, settings, forOperation, inners) ++
      records(lock.folder, lock, settings, choice) ++ leftovers(
        lock.folder,
        lock,
        settings,
        own.flatMap(_._2).map(_.operationId)
      )
  }

  private def inner(
      lock: Lock,
      settings: LockSettings,
      forOperation: String,
      dead: Seq[(FileMeta, Option[Owner])]
  ): Seq[String] = {
    val roots = dead.flatMap(_._2).map(_.root).distinct
    roots.foreach { root =>
      lock.check()
      NestedRoots.settle(lock.folder, root, settings, forOperation)
    }
    dead.foreach(d => lock.folder.ops.delete(d._1.path))
    roots.map(root => s"settled the table over its folder '$root'")
  }

  // First of all: an owner that was only stalled must find its lock gone before we touch what it was at.
  private def removeLocks(
      lock: Lock,
      settings: LockSettings,
      dead: Seq[(FileMeta, Option[Owner])]
  ): Seq[String] = {
    val removed = dead.map { case (file, owner) =>
      lock.folder.ops.delete(file.path)
      val certain = owner.exists(o => settings.liveness.processState(o) == ProcessState.Gone)
      (s"removed the lock of ${owner.fold("an unknown owner")(_.describe)}", certain)
    }
    // A stalled owner may have asked for its lock just before, and be in the middle of one rename.
    if (removed.exists(!_._2)) settings.sleep(math.min(1000L, settings.timeoutMillis))
    removed.map(_._1)
  }

  private def records(folder: TableFolder, lock: Lock, settings: LockSettings, choice: Choice): Seq[String] =
    TableFolder.records(lock.listing()).flatMap { file =>
      file.state match {
        case RecordState.Pending    => Some(rollBack(folder, lock, file, Cleanup.pending))
        case RecordState.Undoing    => Some(rollBack(folder, lock, file, Cleanup.undoing))
        case RecordState.Publishing => Some(settle(folder, lock, file, settings, choice))
        case _                      => None
      }
    }

  private def rollBack(
      folder: TableFolder,
      lock: Lock,
      file: RecordFile,
      clean: (TableFolder, Record) => Unit
  ): String = {
    lock.check()
    try clean(folder, StrayFolders.followedIfMoved(folder, RecordJson.read(folder, file)))
    catch {
      case e: UnreadableRecordException => // touched nobody's rows
        log.warn("rolled back without looking for its staged files", e)
        folder.ops.delete(file.meta.path)
    }
    s"rolled back version ${file.version}, which was ${file.state.suffix}"
  }

  private def settle(
      folder: TableFolder,
      lock: Lock,
      file: RecordFile,
      settings: LockSettings,
      choice: Choice
  ): String = {
    val record = StrayFolders.followed(folder, RecordJson.read(folder, file))
    val guard = () => lock.checkInARow()
    val first = FileLocations.steady(folder, record, settings.sleep)
    val kept = choice == Choice.KeepVisible && first.unclear.nonEmpty
    if (kept) Publish.giveUp(folder, record, first.unclear, guard)
    val survey = if (kept) FileLocations.of(folder, record).leaving(first.unclear.map(_.work.folder).toSet) else first
    val publish = Publish.left(folder, record, survey, choice == Choice.BringBack, guard, settings.sleep)
    def undo(why: String): String = {
      publish.undo(why, Some(lock.owner.describe))
      s"undid version ${record.version}: $why"
    }
    // What is unclear stays; the other folders do not wait half published, but go back at once.
    if (survey.unclear.nonEmpty)
      undo(s"as asked for, in ${survey.unclear.map(f => s"'${f.work.folder}'").mkString(", ")}")
    else if (!survey.canFinish) undo("some of its files are gone, changed or replaced")
    else {
      lock.publishing = true
      try {
        publish.forward()
        lock.check()
        Committer.markDone(folder, record, math.max(0L, Clock.nowUnderLock(folder) - file.meta.modificationTime))
        Outcome.note(folder, record, "its owner died while it published its files", Some(lock.owner.describe))
        Cleanup.done(folder, record)
        s"finished version ${record.version}"
      } catch { case e @ (_: CommitConflictException | _: UnclearException) => undo(e.getMessage) }
      finally lock.publishing = false
    }
  }

  private def readable(folder: TableFolder, file: RecordFile): Option[Record] =
    try Some(RecordJson.read(folder, file))
    catch {
      case e: UnreadableRecordException =>
        log.warn("its folders are not cleaned", e)
        None
    }

  /** @param owners operations of dead owners */
  private def leftovers(
      folder: TableFolder,
      lock: Lock,
      settings: LockSettings,
      owners: Seq[String]
  ): Seq[String] = {
    val ops = folder.ops
    lock.check()
    // Whose lock was the only trace may have died while cleaning up after its last record.
    val statuses = lock.listing()
    if (lock.others.nonEmpty) {
      // So may a VACUUM, of whichever versions.
      val (vacuumed, others) = TableFolder.records(statuses).partition(_.state == RecordState.Vacuumed)
      (others.find(_.state == RecordState.Done) ++ vacuumed).flatMap(readable(folder, _)).foreach(Cleanup.done(
        folder,
        _
      ))
    }
    if (lock.others.nonEmpty) Trash.tidy(folder, lock)
    val stagings = dead(folder, lock, statuses, owners)
    stagings.foreach(Cleanup.job(folder, _))
    val now = statuses.find(_.name == lock.path.getName).map(_.modificationTime)
    statuses.filter(!_.isDirectory).foreach { m =>
      // Others' probes live for a moment only, without a lock.
      val oldProbe =
        TableFolder.hasPrefix(
          m.name,
          TableFolder.ProbePrefix
        ) && now.exists(_ - m.modificationTime > settings.timeoutMillis)
      if (TableFolder.hasPrefix(m.name, TableFolder.TemporaryPrefix) || oldProbe) ops.delete(m.path)
    }
    IndexFiles.prune(folder)
    NestedRoots.prune(folder, statuses)
    stagings.map(id => s"removed the files of operation $id")
  }

  /**
   * Dead operations that may have left staging. Only what a manifest or a dead owner's lock names is known to be this
   * table's: what else lies in staging may belong to a table above, and its operation is not ours to judge.
   */
  private def dead(folder: TableFolder, lock: Lock, statuses: Seq[FileMeta], owners: Seq[String]): Seq[String] = {
    val underWay =
      TableFolder.records(lock.listing()).filterNot(f => f.state.isPublished || f.state == RecordState.Undone)
        .flatMap(readable(folder, _)).map(_.operationId).toSet
    val manifests = Manifest.operations(statuses)
    val old = owners.filter(id =>
      Record.isDataName(id) && !id.contains("/") && folder.possibleStagingsOf("", id).exists(folder.ops.exists)
    )
    (manifests ++ old).distinct.filterNot(id => id == lock.operationId || underWay(id))
  }

  /**
   * What a query does before it lists the table: waits for a living owner that is publishing, recovers after a dead
   * one, and where neither can be, says how to read around.
   *
   * @param waitMillis how long to wait for a living owner (`spark.zorder.publish.wait`)
   * @param orStandstill whether to read around a living owner as soon as it is seen to move no files, see [[Standstill]]
   */
  def settled(
      folder: TableFolder,
      waitMillis: Long,
      settings: LockSettings = LockSettings(),
      orStandstill: Boolean = false
  ): ReadableState = {
    val deadline = System.currentTimeMillis() + waitMillis
    lazy val standstill = new Standstill(folder)
    var exchanging = false
    // None when the owner came to an end just now.
    def around(busy: TableState.SideFolder, lives: Boolean): Option[ReadableState] =
      try Some(ReadableState(busy, ReadAround.of(folder, busy.statuses, lives, settings.sleep), exchanging))
      catch { case _: FileNotFoundException => None }
    def next(pause: Long, recoveries: Int): ReadableState = {
      val state = TableState.look(folder.root, folder.ops)
      try step(state, pause, recoveries)
      catch { case e: IOException if isPublishing(state) => throw new HalfPublishedException(folder.root, e) }
    }
    def step(state: TableState, pause: Long, recoveries: Int): ReadableState =
      state match {
        case busy: TableState.SideFolder if isNeeded(busy, settings) =>
          exchanging |= busy.publishing.nonEmpty
          if (needsChoice(folder, busy)) around(busy, lives = false).getOrElse(next(pause, recoveries))
          else if (recoveries < MostRecoveries && tryRecover(folder, settings)) next(pause, recoveries + 1)
          else if (System.currentTimeMillis() >= deadline || busy.publishing.isEmpty)
            around(busy, lives = false).getOrElse(next(pause, recoveries))
          else {
            settings.sleep(pause)
            next(math.min(200L, pause * 2), recoveries)
          }
        case busy: TableState.SideFolder if busy.publishing.nonEmpty =>
          exchanging = true
          if (System.currentTimeMillis() >= deadline || orStandstill && standstill.isSeen(busy))
            around(busy, lives = true).getOrElse(next(pause, recoveries))
          else {
            settings.sleep(pause)
            next(math.min(200L, pause * 2), recoveries)
          }
        case quiet => ReadableState(quiet, None, exchanging)
      }
    next(5L, 0)
  }

  /** The same for many tables. Those in which nothing is under way are looked at side by side. */
  def settled(
      folders: Seq[TableFolder],
      waitMillis: Long,
      settings: LockSettings,
      orStandstill: Boolean
  ): Seq[(TableFolder, ReadableState)] = {
    val states =
      WorkerThreads.map(folders, math.min(TableFolder.Threads, folders.size / 8))(f => TableState.look(f.root, f.ops))
    folders.zip(states).map {
      case (folder, busy: TableState.SideFolder) if busy.isBusy =>
        folder -> settled(folder, waitMillis, settings, orStandstill)
      case (folder, quiet) => folder -> ReadableState(quiet, None, exchanging = false)
    }
  }

  private def isPublishing(state: TableState): Boolean = state match {
    case side: TableState.SideFolder => side.publishing.nonEmpty
    case TableState.NoSideFolder     => false
  }

  /** Whether all that is left to do is somebody's choice, so that no query need take the lock. */
  private def needsChoice(folder: TableFolder, busy: TableState.SideFolder): Boolean =
    try busy.publishing.exists { file =>
        val survey = FileLocations.listed(folder, StrayFolders.followed(folder, RecordJson.read(folder, file)))
        survey.unclear.nonEmpty && survey.ours.forall(_.isUntouched)
      }
    catch { case _: FileNotFoundException => false }

  private def tryRecover(folder: TableFolder, settings: LockSettings): Boolean =
    try {
      recover(folder, settings)
      true
    } catch {
      case e: IOException =>
        log.warn(s"cannot recover ${folder.root}, reading around what is half done", e)
        false
      case _: RecoveryUnclearException                            => false // told when it is read around
      case _: ConcurrentOperationException | _: LockLostException => false // somebody else does it
    }
}
