package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/**
 * Publishes an operation by telling the catalog of new folders, by the steps in
 * `docs/design/commit-catalog.md`. It is used once: [[begin]], then [[commit]] or [[abort]].
 *
 * @param home the table's side folder
 * @param rowsOf the number of rows that a file says it has; None if it is not complete
 */
final class CatalogCommitter(
    home: TableFolder,
    lock: Lock,
    catalog: CatalogLocations,
    rowsOf: FileMeta => Option[Long],
    history: HistorySettings = HistorySettings()
) {
  import CatalogCommitter._

  private val ops = home.ops
  private val files = new CatalogSideFiles(home)

  /** The folders that the slots leave, as they were listed before the job read them. */
  private var found = Map.empty[String, Seq[FileMeta]]
  private var generation = Option.empty[Path]
  private var switched = false

  /**
   * Steps 2 and 3: looks at the folders, and makes the new ones. No row is touched.
   *
   * @param made the generation of the new folders; None if the slots go back to folders that are there
   * @throws CommitConflictException when the catalog names another folder than the caller has listed
   */
  def begin(moves: Seq[LocationUpdate], made: Option[Path]): Unit = {
    refuseMoved(moves)
    found = WorkerThreads.map(moves.map(_.from).distinct, home.threads)(dir => dir.toString -> ops.list(dir)).toMap
    generation = made
    made.foreach { folder =>
      files.writeManifest(lock, folder)
      Failpoints.hit("after-generation-manifest")
      moves.foreach { m =>
        lock.check()
        ops.mkdirsLike(m.to, m.from)
      }
    }
    Failpoints.hit("after-generation-folders")
  }

  /** The file of an old folder as it was when [[begin]] looked, if it is still the one that was listed. */
  def atBegin(folder: Path, name: String, length: Long, modificationTime: Long): Option[FileMeta] =
    found.getOrElse(folder.toString, Nil)
      .find(m => m.name == name && m.length == length && m.modificationTime == modificationTime)

  /**
   * Copies files under their own names to a new folder, which no query reads yet.
   *
   * @return the copies, in the order of the files
   */
  def copied(some: Seq[FileMeta], to: Path): Seq[FileMeta] = {
    CatalogCopies.copy(home, lock, some.map(m => m -> FileNames.child(to, m.name)), to)
    val there = ops.list(to).map(m => m.name -> m).toMap
    some.map(m => there.getOrElse(m.name, throw new IOException(s"the copy of ${m.path} in $to vanished")))
  }

  /**
   * Steps 7 to 13.
   *
   * @param record with the switches; any version, as the next one is given here
   * @return the record as it is in the history, with the slots that have moved
   * @throws CommitConflictException when others changed inputs or locations: then nothing has moved,
   *   or only other partitions
   */
  def commit(record: Record): Record = {
    require(record.operationId == lock.operationId, s"the lock is held by ${lock.operationId}")
    val carried = withAppended(record.copy(way = Way.Catalog))
    val numbered = carried.copy(version = nextVersion())
    Record.fault(numbered).foreach(why => throw new IllegalArgumentException(why))
    refuseMoved(numbered.switches.map(_.move))
    if (generation.isEmpty) numbered.switches.foreach(dropStale)
    writeState(numbered)
    Failpoints.hit("after-catalog-state")
    lock.check()
    files.writeSwitch(lock, numbered)
    switched = true
    refuseDiscarded(numbered)
    Failpoints.hit("before-commit-point")
    WorkerThreads.toTheEnd(s"zorder-commit-${lock.operationId}", alone = home.threads > 1)(exchange(numbered, _))
  }

  private def nextVersion(): Long = {
    val listed = lock.listing()
    val newest = (SideListing.records(listed).map(_.version) :+ SideListing.newestPublished(listed)).max
    if (newest >= SideNames.MaxVersion) throw new IOException(s"no version comes after $newest")
    newest + 1
  }

  private def refuseMoved(moves: Seq[LocationUpdate]): Unit = {
    val now = catalog.current(moves.map(_.slot))
    val moved = moves.filterNot(m => now.get(m.slot).contains(m.from))
    if (moved.nonEmpty)
      throw new CommitConflictException(moved.map(_.slot.toString), "the catalog names another location by now")
  }

  /** The record with the files that others appended since, once these are in the new folders. */
  private def withAppended(record: Record): Record =
    record.copy(switches = WorkerThreads.map(record.switches, home.threads)(withAppended(_, Rounds)))

  @scala.annotation.tailrec
  private def withAppended(switch: LocationChange, rounds: Int): LocationChange = {
    val from = new Path(switch.from)
    val now = ops.list(from).filter(StaleAppends.isVisible)
    val byName = now.map(m => m.name -> m).toMap
    val inputs = switch.inputs.filter(i => FileNames.parent(i.path) == switch.from)
    val changed = inputs.filterNot(i => byName.get(FileNames.name(i.path)).exists(i.isThis(_, timed = true)))
    if (changed.nonEmpty)
      throw new CommitConflictException(changed.map(_.path), "they are gone, or were changed or replaced")
    val known = inputs.map(i => FileNames.name(i.path)).toSet
    val complete = now.filterNot(m => known(m.name)).flatMap(m => rowsOf(m).map(m -> _))
    if (complete.isEmpty || rounds == 0) switch
    else withAppended(CatalogCopies.appended(home, lock, switch, complete), rounds - 1)
  }

  /**
   * Deletes copies of an earlier attempt to go back to a folder: their rows may have been deleted
   * since.
   */
  private def dropStale(switch: LocationChange): Unit = {
    lock.check()
    val needed = switch.outputs.map(o => FileNames.name(o.path)).toSet
    ops.list(new Path(switch.to))
      .filter(m => StaleAppends.isVisible(m) && CarriedName.isOne(m.name) && !needed(m.name))
      .foreach(m => ops.delete(m.path))
  }

  /**
   * A recovery that took us for dead removes the manifest and then looks for the record. We write the
   * record and then look for the manifest. So one of us sees the other, and the folder stays.
   */
  private def refuseDiscarded(record: Record): Unit =
    if (generation.isDefined && !files.hasManifest(record.operationId)) {
      ops.delete(files.switch(record.operationId))
      throw new LockLostException(lock.path, "another process has removed what this operation wrote")
    }

  /** Both folders of a switch watch the other one, since others may set the location back. */
  private def writeState(record: Record): Unit = {
    record.switches.foreach { s =>
      val path = StaleAppends.sentinel(new Path(s.from), record.operationId)
      ops.mkdirs(path.getParent)
      if (!ops.exists(path)) ops.writeNew(path, Array.emptyByteArray)
    }
    Failpoints.hit("after-sentinels")
    val before = CatalogStateFile.read(home, lock.listing())
    // The new folders have these rows as well, and no longer under names by which a reader would notice.
    val doubles = WorkerThreads.map(record.switches.map(s => new Path(s.from)).distinct, home.threads) { from =>
      from -> CatalogCopies.doubles(home, before, from)
    }
    val state = StaleAppends.having(before, doubles)
    val now = System.currentTimeMillis()
    def watch(folder: String, files: Seq[KnownFile], newer: Boolean) =
      Watch(folder, record.operationId, now, files, newer = newer)
    val entries = record.switches.flatMap { s =>
      val inputs = s.inputs.filter(i => FileNames.parent(i.path) == s.from)
        .map(i => KnownFile(FileNames.name(i.path), i.length, i.modificationTime, i.etag))
      val outputs = s.outputs.map(o => KnownFile(FileNames.name(o.path), o.length, o.modificationTime, o.etag))
      def entry(path: String) =
        state.folder(new Path(path)).getOrElse(CatalogFolder(path, s.slot, "", Nil, Nil))
      Seq(
        entry(s.to).copy(
          operationId = record.operationId,
          own = outputs.map(_.name).distinct,
          abandoned = false,
          outdated = false
        )
          .having(entry(s.from).has ++ outputs.map(_.name).filter(CarriedName.isOne) ++ appended(state, s))
          .watching(watch(s.from, inputs, newer = false)),
        entry(s.from).watching(watch(s.to, outputs, newer = true))
      )
    }
    CatalogStateFile.write(home, lock, state.updated(entries))
  }

  /**
   * The names of copies of what others appended to the old folder. No copies are made of a file that all
   * folders know which watch the old one.
   */
  private def appended(state: CatalogState, s: LocationChange): Seq[String] = {
    val watches = state.folders.flatMap(_.watches).filter(_.folder == s.from)
    s.inputs.map(i => FileMeta(new Path(i.path), i.length, i.modificationTime, isDirectory = false, i.etag))
      .filterNot(m => watches.forall(_.knows(m))).map(CarriedName.of)
  }

  /** Steps 10 to 13. */
  private def exchange(record: Record, interrupted: () => Boolean): Record = {
    if (interrupted()) throw new InterruptedException("interrupted before the commit point")
    lock.check()
    refuseMoved(record.switches.map(_.move))
    refuseGone(record)
    val started = System.nanoTime()
    val failure =
      try {
        catalog.move(record.switches.map(_.move))
        None
      } catch { case e: IOException => Some(e) }
    failure.foreach(e => log.warn(s"the catalog's answer for ${home.root} was an error, looking at the locations", e))
    Failpoints.hit("after-commit-point")
    // A process that has taken the lock from us has ended the operation, and may have deleted our inputs since.
    lock.check()
    val overwritten = putBack(record)
    val millis = (System.nanoTime() - started) / 1000000
    lock.publishing = true
    try orLeave(record) {
        val ended =
          CatalogRecovery.end(home, lock, catalog, record, millis, failure.map(_.getMessage).orElse(overwritten))
        carryLate(ended)
        tidy()
        ended
      }
    finally lock.publishing = false
  }

  private def refuseGone(record: Record): Unit = record.switches.foreach { s =>
    if (!ops.status(new Path(s.to)).exists(_.isDirectory))
      throw new CommitConflictException(Seq(s.to), "the new folder was deleted")
  }

  /**
   * Tells the catalog of the old folders again where others have deleted or overwritten files since our
   * last look, so that their changes count. Returns why, in words.
   */
  private def putBack(record: Record): Option[String] =
    try {
      val changed = WorkerThreads.map(record.switches, home.threads)(s => s -> changedInputs(s)).filter(_._2.nonEmpty)
      if (changed.isEmpty) None
      else {
        lock.check()
        catalog.move(changed.map { case (s, _) => LocationUpdate(s.slot, new Path(s.to), new Path(s.from)) })
        Some(s"others changed or deleted files of the old folder, such as ${changed.head._2.head}")
      }
    } catch {
      case e: IOException =>
        log.warn(s"cannot look whether files of ${home.root} were changed in the last moment", e)
        None
    }

  private def changedInputs(s: LocationChange): Seq[String] = {
    val now = ops.list(new Path(s.from)).map(m => m.name -> m).toMap
    s.inputs.filter(i => FileNames.parent(i.path) == s.from)
      .filterNot(i => now.get(FileNames.name(i.path)).exists(i.isThis(_, timed = true))).map(_.path)
  }

  /** Step 12. The operation has succeeded by now, and the next statement would do it as well. */
  private def carryLate(record: Record): Unit =
    try CatalogCopies.carry(home, lock, record.switches.map(s => new Path(s.to)), catalog.located(), rowsOf)
    catch {
      case e @ (_: IOException | _: CommitException) =>
        log.warn(s"files that others have just written to an earlier folder of ${home.root} stay there for now", e)
    }

  private def tidy(): Unit =
    try {
      val statuses = lock.listing()
      IndexFiles.prune(home, statuses)
      UndoneRecords.prune(home, lock, statuses)
      Checkpoints.fold(home, lock, history)
    } catch {
      case e @ (_: IOException | _: LockLostException) => log.warn(s"cannot clean up in ${home.root}", e)
    }

  private def orLeave[A](record: Record)(step: => A): A =
    try step
    catch {
      case e: IOException =>
        lock.abandon()
        throw new IncompletePublishException(files.switch(record.operationId), e)
    }

  /** Removes the new folders, unless the catalog may have been told of them. */
  def abort(): Unit = if (!switched)
    try CatalogRecovery.discard(home, lock, lock.operationId, generation)
    catch {
      case e @ (_: IOException | _: CommitException) =>
        log.warn(s"cannot remove ${generation.getOrElse("what was begun")}, the next statement will", e)
        lock.abandon()
    }
}

private object CatalogCommitter {
  private val log = LoggerFactory.getLogger(classOf[CatalogCommitter])

  /** How often a folder is listed until no new file has come. What comes later is a late file. */
  private val Rounds = 5
}
