package org.sparkzorder.commit

import java.io.IOException

import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.progress.{Phase, StatementProgress}

/**
 * The retired files of one operation of this table.
 *
 * @param operation that retired them
 * @param record None when the operation was undone
 */
final case class RetiredFiles(operation: Record, record: Option[HistoryEntry], files: Seq[FileMeta]) {
  def version: Long = operation.version
  def bytes: Long = files.filterNot(_.isLink).map(_.length).sum
}

/** Retired files, which only RESTORE reads. */
object Trash {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /**
   * All retired files, oldest version first. It lists two folders in each data folder, and each
   * trash.
   *
   * @param dirs folders to look into besides those that the records name: a partition may have been
   *             moved or copied
   */
  def all(folder: TableFolder, history: Seq[HistoryEntry], dirs: Seq[String] = Nil): Seq[RetiredFiles] = {
    val ended = undone(folder)
    retired(folder, history, ended, listed(folder, dirs ++ foldersOf(ended ++ history.map(_.record))))
  }

  private def foldersOf(records: Seq[Record]): Seq[String] = records.flatMap(_.folders.map(_.folder)).distinct

  /** The trash of each operation in these folders. */
  private def listed(folder: TableFolder, dirs: Seq[String]): Seq[FileMeta] =
    dirs.distinct.sorted.flatMap(dir => folder.ops.list(folder.trashesOf(dir)).filter(_.isDirectory))

  private def retired(
      folder: TableFolder,
      history: Seq[HistoryEntry],
      undone: Seq[Record],
      trashes: Seq[FileMeta]
  ): Seq[RetiredFiles] = {
    val records = undone ++ history.map(_.record)
    // A trash that no record of ours names belongs to another table, which shares the folder with
    // this one.
    val byTrash = records.map(r => TableFolder.trashName(r) -> r).toMap
    val byId = records.map(r => r.operationId -> r).toMap
    // A folder that was away while its operation ended, and is back, still has the marker.
    val halfDone = trashes.map(sideOf).distinct.flatMap(side => marked(folder, side).map(side -> _)).toSet
    val files = for {
      trash <- trashes
      record <- ownerOf(trash, byTrash).toSeq
      if !halfDone(sideOf(trash) -> record.operationId)
      file <- folder.ops.list(trash.path) if !file.isDirectory
    } yield record.operationId -> file
    // Metrics report the size at the last look.
    Meters.trash(folder.root).set(files.map(_._2.length).sum)
    val entries = history.map(e => e.record.operationId -> e).toMap
    files.groupMap(_._1)(_._2).toSeq.map { case (id, metas) =>
      RetiredFiles(byId(id), entries.get(id), metas.sortBy(_.path.toString))
    }.sortBy(retired => (retired.version, retired.operation.operationId))
  }

  private def sideOf(trash: FileMeta): Path = trash.path.getParent.getParent

  /** The operations that have a marker in a side folder. Rows may wait in their trash. */
  private def marked(folder: TableFolder, side: Path): Seq[String] = {
    val ids = folder.ops.list(side).flatMap(m => FolderMark.operation(m.name))
    if (ids.nonEmpty) log.warn(
      s"${side.getParent} was not in the table while an operation ended. Rows may wait in its side folder, so its " +
        "trash is kept. See docs/on-call.md"
    )
    ids
  }

  private def ownerOf(found: FileMeta, own: Map[String, Record]): Option[Record] = {
    val record = own.get(found.name)
    if (record.isEmpty) log.info(s"${found.path} is of no operation in this table's history and is left alone")
    record
  }

  /** Records of operations that were undone, without damaged ones. */
  private def undone(folder: TableFolder): Seq[Record] =
    SideListing.records(folder.ops.list(folder.side)).filter(_.state == RecordState.Undone)
      .flatMap(History.readable(folder, _))

  /**
   * The files that VACUUM deletes, oldest version first. The rest of a trash that was half deleted
   * is always among them. The entries do not say whether a RESTORE undid the operations.
   *
   * @param isOld whether an operation's retired files may go
   * @param dirs as for [[all]]
   */
  def expired(folder: TableFolder, isOld: Record => Boolean, dirs: Seq[String] = Nil): Seq[RetiredFiles] =
    kept(folder, dirs).filter { retired =>
      retired.record match {
        case Some(entry) => entry.state == History.Vacuumed || isOld(entry.record)
        case None        => isOld(retired.operation)
      }
    }

  /**
   * The same as [[all]], but it parses only those records in the checkpoint whose trash is there.
   */
  private def kept(folder: TableFolder, dirs: Seq[String]): Seq[RetiredFiles] = {
    val ended = undone(folder)
    val read = mutable.ArrayBuffer.empty[HistoryEntry]
    lazy val records: PublishedRecords =
      new PublishedRecords(folder, () => folder.ops.list(folder.side), () => neededVersions)
    // Evaluated when the checkpoint is reached. By then all records that are files have been read.
    lazy val looked = (dirs ++ records.folders ++ foldersOf(ended ++ read.map(_.record))).toSet
    lazy val trashes = listed(folder, looked.toSeq)
    def neededVersions = Some(trashes.flatMap(t => SideNames.trashVersion(t.name)).toSet)
    records.foreach { case PublishedRecord(file, record, outcome) =>
      val state = if (file.state == RecordState.Vacuumed) History.Vacuumed else History.Committed
      read += HistoryEntry(record, state, file.publishMillis, file.meta.modificationTime, outcome())
    }
    val history = read.toVector
    // A record that is still a file may be older than those in the checkpoint.
    if (foldersOf(history.map(_.record)).forall(looked)) retired(folder, history, ended, trashes)
    else all(folder, History.read(folder), dirs)
  }

  /**
   * Deletes the retired files of some versions. Needs the lock. The records are marked first, so
   * that RESTORE never uses a trash that is half deleted. If it fails the lock is abandoned, so
   * that the next statement removes empty folders.
   */
  def vacuum(folder: TableFolder, lock: Lock, retired: Seq[RetiredFiles]): Unit = if (retired.nonEmpty) {
    retired.foreach(refuseTied(folder, _))
    lock.check()
    val listing = lock.listing()
    val published = SideListing.records(listing).filter(_.state.isPublished).map(f => f.version -> f).toMap
    val known = retired.filter(_.record.isDefined)
    val inCheckpoint =
      known.filter(r => !published.contains(r.version) && !r.record.exists(_.state == History.Vacuumed))
    def marks(orElse: String): Boolean = marked(folder, lock, inCheckpoint.map(_.version).toSet, orElse)
    StatementProgress.current.foreach(_.enter(Phase.Deleting, until = 1, files = retired.map(_.files.size.toLong).sum))
    try {
      known.flatMap(r => published.get(r.version)).filter(_.state == RecordState.Done).foreach { file =>
        folder.ops.rename(file.meta.path, folder.vacuumed(file))
        Failpoints.hit("vacuum-record")
      }
      // On a full disk, VACUUM deletes first and marks afterwards. RESTORE looks at every file, so
      // it refuses nevertheless.
      val isMarked = marks(orElse = s"deleting retired files of ${folder.root} before the history says so")
      retired.foreach { of =>
        delete(folder, lock, of)
        Meters.trash(folder.root).addAndGet(-of.bytes)
      }
      if (!isMarked) marks(orElse = s"the history of ${folder.root} does not say which retired files were deleted")
      ()
    } catch {
      case e: IOException =>
        lock.abandon()
        throw e
    }
  }

  /**
   * Key material of a retired file may still be in its folder. Back under its name, the file could be
   * read.
   */
  private def refuseTied(folder: TableFolder, retired: RetiredFiles): Unit =
    retired.operation.inputs.groupBy(_.folder).foreach { case (dir, inputs) =>
      val there = folder.ops.list(folder.resolve(dir))
      if (there.exists(m => TiedNames.mayBe(m.name)))
        TiedNames.refuse(
          there,
          inputs.map(i => FileNames.name(i.path)).toSet -- there.map(_.name),
          TiedFileException.Deletes
        )
    }

  /**
   * Marks versions that are in the checkpoint as vacuumed. False when that failed and left nothing
   * behind.
   */
  private def marked(folder: TableFolder, lock: Lock, versions: Set[Long], orElse: String): Boolean =
    try {
      Checkpoints.vacuum(folder, lock, versions)
      true
    } catch {
      case e: IOException if Checkpoints.isClean(e) =>
        log.warn(orElse, e)
        false
    }

  private def delete(folder: TableFolder, lock: Lock, retired: RetiredFiles): Unit =
    retired.files.groupBy(_.path.getParent).toSeq.sortBy(_._1.toString).foreach { case (trash, files) =>
      lock.check()
      folder.ops.deleteRecursive(trash)
      StatementProgress.current.foreach(_.done(Phase.Deleting, files.size.toLong))
      folder.ops.deleteEmpty(trash.getParent)
      // The root's side folder is not empty, as the lock is in it.
      folder.ops.deleteEmpty(trash.getParent.getParent)
      Failpoints.hit("vacuum-1")
    }

  /**
   * Removes empty folders that a dead VACUUM left, for versions in the checkpoint. Needs the lock.
   */
  private[commit] def tidy(folder: TableFolder, lock: Lock): Unit =
    Checkpoints.newest(folder, lock.listing()).foreach { checkpoint =>
      val vacuumed = checkpoint.lines(folder).filter(_.file.state == RecordState.Vacuumed).flatMap { line =>
        val record = line.record
        record.folders.map(work => work.folder -> TableFolder.trashName(record))
      }.toSeq.groupMap(_._1)(_._2)
      vacuumed.foreach { case (dir, names) =>
        val there = folder.ops.list(folder.trashesOf(dir)).map(_.name).toSet
        names.filter(there).foreach(name => folder.ops.deleteEmpty(new Path(folder.trashesOf(dir), name)))
        folder.ops.deleteEmpty(folder.trashesOf(dir))
        if (dir.nonEmpty) folder.ops.deleteEmpty(folder.sideOf(dir))
      }
    }
}
