package org.sparkzorder.commit.catalog

import java.io.FileNotFoundException

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{History, Outcome, RecordJson}
import org.sparkzorder.commit.place.StorePlaces
import org.sparkzorder.commit.storage.{AtomicFile, ObjectFileOps}

/** Ends operations that move a table to new folders, by the locations that the catalog names. */
private[sparkzorder] object CatalogRecovery {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.machine.Recovery")

  /**
   * Deletes the new folder of an operation that never told the catalog of it, with uploads that are open in it.
   * The manifest goes first, and then comes the look for a record: see [[CatalogCommitter]]. The folder stays if a
   * record cannot be read, since it may be this operation's.
   */
  def discard(root: TableFolder, operationId: String): Unit =
    madeBy(root, operationId).foreach { made =>
      root.ops.delete(root.manifest(operationId))
      val moving = SideListing.moving(root.ops.list(root.side)).map(History.readable(root, _))
      val ended = History.newestFirst(root) ++ History.undone(root)
      val mayBeRecorded =
        moving.exists(_.forall(_.operationId == operationId)) || ended.exists(_.record.operationId == operationId)
      if (!mayBeRecorded) {
        ObjectFileOps.storeOf(root)
          .foreach(StorePlaces.discard(_, TableFolder(made, root.ops, root.threads), operationId))
        root.ops.deleteRecursive(made)
        root.ops.deleteEmpty(made.getParent)
      }
    }

  private def madeBy(root: TableFolder, operationId: String): Seq[Path] =
    VersionDirectory.parentOf(root.root).toSeq.flatMap(root.ops.list)
      .filter(m => m.isDirectory && VersionDirectory.isOf(m.name, operationId)).map(_.path)

  /**
   * Ends what dead owners left. Needs the lock, so that they cannot be alive.
   *
   * @return where the table is then
   */
  def settle(home: TableFolder, lock: Lock, catalog: CatalogLocations): CatalogView = {
    SideListing.moving(lock.listing()).foreach { file =>
      try {
        val record = RecordJson.read(home, file)
        val overwritten = putBack(home, lock, catalog, record)
        val ended = end(home, lock, catalog, record, 0L, overwritten, by = Some(lock.owner.describe))
        log.warn(s"Recovery of ${home.root}: finished operation ${ended.operationId}")
      } catch {
        // The other process has just ended it.
        case _: FileNotFoundException   => ()
        case e: CommitConflictException => log.warn(s"Recovery of ${home.root}: undid an operation in part or whole", e)
      }
    }
    val view = CatalogView.read(home, catalog)
    if (returnGivenUp(home, lock, catalog, view)) view.copy(current = catalog.all()) else view
  }

  /**
   * Tells the catalog of the old folders again where others have deleted or overwritten files since the last look, so
   * that their changes count. It comes after the catalog was told and before the end, also in a recovery.
   *
   * @return why, in words
   */
  def putBack(home: TableFolder, lock: Lock, catalog: CatalogLocations, record: Record): Option[String] = {
    val now = catalog.all().values.toSet
    val moved = record.locationChanges.filter(s => now(new Path(s.to)))
    val changed = WorkerThreads.map(moved, home.threads) { s =>
      s -> s.changed(home.ops.list(new Path(s.from)))
    }.filter(_._2.nonEmpty)
    changed.headOption.map { case (_, files) =>
      lock.check()
      catalog.move(changed.map { case (s, _) => LocationUpdate(s.partition, new Path(s.to), new Path(s.from)) })
      s"others changed or deleted files of the old folder, such as ${files.head}"
    }
  }

  /**
   * Writes an operation into the history, with the partitions that have moved. Can be done again.
   *
   * @param millis how long the catalog took
   * @param failure why some partitions have not moved, if it is known
   * @return the record with the partitions that have moved
   * @throws CommitConflictException when some have not
   */
  def end(
      home: TableFolder,
      lock: Lock,
      catalog: CatalogLocations,
      record: Record,
      millis: Long,
      failure: Option[String],
      by: Option[String] = None
  ): Record = {
    // By folder: a partition may have got another name meanwhile.
    val now = catalog.all().values.map(_.toString).toSet
    val (moved, left) = record.locationChanges.partition(s => now(s.to))
    val listed = lock.listing()
    // Another operation may have got the number meanwhile, if this one was taken for dead.
    val newest = SideListing.newestPublished(listed)
    val isThere = isInHistory(home, listed, record)
    val ended =
      record.copy(
        locationChanges = moved,
        version = if (!isThere && newest >= record.version) newest + 1 else record.version
      )
    if (left.nonEmpty) {
      // A call may still be on its way to the catalog, so the folders stay, and the history knows them.
      put(home, lock, home.undone(record), record.copy(locationChanges = left))
      Outcome.note(home, record, failure.getOrElse("the catalog names other locations"), by)
    }
    if (moved.nonEmpty) {
      if (!isThere) put(home, lock, home.published(ended, millis), ended)
      by.foreach(who => Outcome.note(home, ended, "its owner died while the catalog was told", Some(who)))
    }
    lock.check()
    // The record goes last: with its manifest alone the new folder would look like that of an operation without one.
    home.ops.delete(home.manifest(record.operationId))
    home.ops.delete(home.record(record, RecordState.Moving))
    if (left.nonEmpty)
      throw new CommitConflictException(
        left.map(_.partition.toString),
        failure.getOrElse("the catalog names another location by now")
      )
    ended
  }

  /**
   * Tells the catalog again where the rows are whose locations are folders of operations that were given up: a call
   * that had hung took effect later. If others have changed such a folder since, or deleted the other one, the location
   * stays as it is, and counts as set back.
   */
  private def returnGivenUp(home: TableFolder, lock: Lock, catalog: CatalogLocations, view: CatalogView): Boolean = {
    val moves = view.givenUp.filter { m =>
      !view.located.contains(m.to) && view.history.isUnchanged(m.from, home.ops) &&
      home.ops.list(m.to).exists(StaleAppends.isVisible)
    }
    if (moves.nonEmpty) {
      log.warn(
        s"Recovery of ${home.root}: the catalog names folders of operations that were given up, and is told again"
      )
      lock.check()
      catalog.move(moves)
    }
    moves.nonEmpty
  }

  /**
   * Locations that were set back, and must not be built on. A file whose rows have moved is a row again only by a
   * RESTORE. A folder without such files counts as a new one, also as that of another partition, unless rows are in
   * the folder to which the table had moved, and no location leads there.
   */
  def setBack(view: CatalogView, ops: FileOps): Seq[SetBack] = {
    // A link may lead back as well.
    val known = view.history.folders.map(f => ops.realPath(new Path(f)) -> new Path(f)).toMap
    val named = view.located.keySet ++ view.located.keySet.flatMap(l => known.get(ops.realPath(l)))
    def visible(folder: Path) = ops.list(folder).filter(StaleAppends.isVisible)
    view.history.setBack(named).filter { back =>
      back.reappeared(visible(back.current)).nonEmpty || !named(back.newer) && visible(back.newer).nonEmpty
    }
  }

  private def isInHistory(home: TableFolder, listed: Seq[FileMeta], record: Record): Boolean =
    SideListing.records(listed).filter(_.state.isPublished).takeWhile(_.version >= record.version)
      .exists(f => RecordJson.read(home, f).operationId == record.operationId)

  private def put(home: TableFolder, lock: Lock, path: Path, record: Record): Unit =
    if (!home.ops.exists(path))
      AtomicFile.put(home.ops, home.newTemporary(), path, RecordJson.write(record))(lock.check())
}
