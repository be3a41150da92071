package org.sparkzorder.commit.catalog

import java.io.FileNotFoundException

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{History, Outcome, RecordJson}
import org.sparkzorder.commit.place.StorePlaces
import org.sparkzorder.commit.storage.{AtomicFile, ObjectFileOps}
import org.sparkzorder.compat._

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
      if (!mayBeRecorded && hasOthers(root.ops, made, operationId))
        log.warn(s"$made stays, since other programs have written to it: no record says whether the catalog named it")
      else if (!mayBeRecorded) {
        ObjectFileOps.storeOf(root)
          .foreach(StorePlaces.discard(_, TableFolder(made, root.ops, root.threads), operationId))
        root.ops.deleteRecursive(made)
        root.ops.deleteEmpty(made.getParent)
      }
    }

  /** Whether a folder has files of other programs. Then the catalog has named it, and its record may be lost. */
  private def hasOthers(ops: FileOps, dir: Path, operationId: String): Boolean = {
    def isWritten(name: String) = WrittenNames.isOurs(name) || ForwardCopyName.isOne(name) || name.contains(operationId)
    ops.list(dir).filter(m => FileNames.isData(m.name)).exists { m =>
      if (m.isDirectory) hasOthers(ops, m.path, operationId) else !isWritten(m.name)
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
    var late = Seq.empty[InputsReplacedException]
    SideListing.moving(lock.listing()).flatMap(unfinished(home, _)).foreach { record =>
      try {
        val ended = end(home, lock, catalog, record, System.nanoTime(), None, by = Some(lock.owner.describe))
        log.warn(s"Recovery of ${home.root}: finished operation ${ended.operationId}")
        late ++= changedMeanwhile(home, ended)
      } catch {
        case e: CommitConflictException => log.warn(s"Recovery of ${home.root}: undid an operation in part or whole", e)
      }
    }
    late.foreach(e => throw e)
    val view = CatalogView.read(home, catalog)
    if (returnGivenUp(home, lock, catalog, view)) view.copy(current = catalog.all()) else view
  }

  def changedMeanwhile(home: TableFolder, ended: Record): Option[InputsReplacedException] =
    ended.metrics.get(Record.Replaced).map(files => new InputsReplacedException(home.root, files.split('\n').toSeq))

  private def unfinished(home: TableFolder, file: RecordFile): Option[Record] =
    try Some(RecordJson.read(home, file))
    // The other process has just ended it.
    catch { case _: FileNotFoundException => None }

  /**
   * Ends an operation after the catalog was told, by one look at the catalog. Partitions that have moved are published.
   * So are those at whose new folder others have written: they were moved, and others have changed the location since.
   *
   * If others have deleted or overwritten files of an old folder since the last look, and the new one has nothing but
   * our files, the catalog is told the old one again, so that their changes count. If the new one was used, both count,
   * and the record names the files. Can be done again.
   *
   * @param started when the catalog was told, in nanoseconds
   * @param failure why some partitions have not moved, if it is known
   * @param by who ends it, if it is not its owner
   * @return the record with the partitions that have moved
   * @throws CommitConflictException when some have not
   */
  def end(
      home: TableFolder,
      lock: Lock,
      catalog: CatalogLocations,
      record: Record,
      started: Long,
      failure: Option[String],
      by: Option[String] = None
  ): Record = {
    val listed = lock.listing()
    val published = inHistory(home, listed, record)
    if (published.isDefined) {
      conclude(home, lock, record)
      published.get
    } else {
      val looked = look(home, catalog, record)
      val (moved, left) = looked.partition(_.isMoved)
      val back = left.filter(_.isNamed)
      val why = failure.orElse(back.headOption.map { l =>
        s"others changed or deleted files of the old folder, such as ${l.changed.head}"
      }).getOrElse("the catalog names other locations")
      if (left.nonEmpty) giveUp(home, lock, record, left.map(_.change), why, by)
      if (back.nonEmpty) {
        lock.check()
        catalog.move(back.map(_.back))
      }
      val millis = (System.nanoTime() - started) / 1000000
      // Another operation may have got the number meanwhile, if this one was taken for dead.
      val version = math.max(record.version, SideListing.newestPublished(listed) + 1)
      val done = record.copy(
        locationChanges = moved.map(_.change),
        version = version,
        metrics = record.metrics ++ lateChanges(moved)
      )
      val ended = if (left.isEmpty) done else done.ofPart
      if (moved.nonEmpty) {
        put(home, lock, home.published(ended, millis), ended)
        by.foreach(who => Outcome.note(home, ended, "its owner died while the catalog was told", Some(who)))
      }
      conclude(home, lock, record)
      if (left.nonEmpty) throw new CommitConflictException(left.map(_.change.partition.toString), why)
      ended
    }
  }

  /** Files that others changed in old folders, where others have used the new ones as well. */
  private def lateChanges(moved: Seq[Looked]): Option[(String, String)] = {
    val files = moved.flatMap(_.changed)
    if (files.isEmpty) None else Some(Record.Replaced -> files.mkString("\n"))
  }

  /**
   * Notes that the catalog was not told of some new folders, or was told the old ones again. A call may still be on its
   * way, so the folders stay, and the history knows them.
   */
  def giveUp(
      home: TableFolder,
      lock: Lock,
      record: Record,
      changes: Seq[LocationChange],
      why: String,
      by: Option[String]
  ): Unit = {
    val path = home.undone(record)
    // Of an end that died. A later look may have found more.
    val before =
      if (!home.ops.exists(path)) Nil
      else History.undone(home).map(_.record).find(_.operationId == record.operationId).toSeq.flatMap(_.locationChanges)
    if (before.nonEmpty) home.ops.delete(path)
    put(home, lock, path, record.copy(locationChanges = (before ++ changes).distinctBy(_.to)))
    Outcome.note(home, record, why, by)
  }

  /**
   * A change after the catalog was told.
   *
   * @param isNamed whether the catalog names the new folder
   * @param isUsed whether others have written or deleted there, so that it was named once
   * @param isWhole whether the new folder has all our files
   * @param changed files of the old folder that others have deleted or overwritten since our last look
   */
  private final case class Looked(
      change: LocationChange,
      isNamed: Boolean,
      isUsed: Boolean,
      isWhole: Boolean,
      changed: Seq[String]
  ) {
    def isMoved: Boolean = isUsed || isNamed && (changed.isEmpty || !isWhole)
    def back: LocationUpdate = LocationUpdate(change.partition, new Path(change.to), new Path(change.from))
  }

  private def look(home: TableFolder, catalog: CatalogLocations, record: Record): Seq[Looked] = {
    // By folder: a partition may have got another name meanwhile.
    val named = catalog.all().values.toSet
    WorkerThreads.map(record.locationChanges, home.threads) { change =>
      val to = new Path(change.to)
      val files = home.ops.list(to).filter(StaleAppends.isVisible)
      // Others may know an earlier folder to which a RESTORE goes back.
      val isNew = VersionDirectory.generationOf(to).exists(d => VersionDirectory.isOf(d.getName, record.operationId))
      val (isNamed, isWhole) = (named(to), change.missing(files).isEmpty)
      val isUsed = isNew && (!isWhole || change.others(files).nonEmpty)
      val changed = if (isNamed || isUsed) change.changed(home.ops.list(new Path(change.from))) else Nil
      Looked(change, isNamed, isUsed, isWhole, changed)
    }
  }

  def conclude(home: TableFolder, lock: Lock, record: Record): Unit = {
    lock.check()
    // The record goes last: with its manifest alone the new folder would look like that of an operation without one.
    home.ops.delete(home.manifest(record.operationId))
    home.ops.delete(home.record(record, RecordState.Moving))
  }

  /**
   * Tells the catalog again where the rows are whose locations are folders of operations that were given up: a call
   * that had hung took effect later. If others have changed such a folder since, or deleted the other one, the location
   * stays as it is, and counts as set back.
   */
  private def returnGivenUp(home: TableFolder, lock: Lock, catalog: CatalogLocations, view: CatalogView): Boolean = {
    def visible(folder: String) = home.ops.list(new Path(folder)).filter(StaleAppends.isVisible)
    val moves = for {
      (at, left) <- view.locatedAgain.toSeq if left.isGivenUp && at.toString == left.folder
      to = new Path(left.head)
      if !view.located.contains(to) && left.gone(visible(left.folder)).isEmpty && visible(left.head).nonEmpty
    } yield LocationUpdate(view.located(at), at, to)
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
   * Locations that were set back, and must not be built on, with files there whose rows are elsewhere. Such a file is a
   * row again only by a RESTORE. A folder without one counts as a new one, also as that of another partition, unless
   * rows are in the folder to which the table had moved, and no location leads there.
   */
  def setBack(view: CatalogView): Seq[(LeftFolder, Seq[FileMeta])] = {
    def visible(folder: Path) = view.ops.list(folder).filter(StaleAppends.isVisible)
    view.locatedAgain.toSeq.sortBy(_._1.toString).map { case (at, left) =>
      lazy val carried = FolderNotes.in(at, view.ops).carried
      left -> visible(at).filter(m => left.isReplaced(m) || carried.has(m) || carried.hasOther(m))
    }.filter { case (left, again) =>
      val head = new Path(left.head)
      again.nonEmpty || !isLocated(view, head) && visible(head).nonEmpty
    }
  }

  /** Whether a location is this folder, also by a link. */
  def isLocated(view: CatalogView, folder: Path): Boolean = view.located.contains(folder) || {
    val real = view.ops.realPath(folder)
    view.located.keys.exists(view.ops.realPath(_) == real)
  }

  private def inHistory(home: TableFolder, listed: Seq[FileMeta], record: Record): Option[Record] =
    SideListing.records(listed).iterator.filter(_.state.isPublished).takeWhile(_.version >= record.version)
      .map(RecordJson.read(home, _)).find(_.operationId == record.operationId)

  private def put(home: TableFolder, lock: Lock, path: Path, record: Record): Unit =
    if (!home.ops.exists(path))
      AtomicFile.put(home.ops, home.newTemporary(), path, RecordJson.write(record))(lock.check())
}
