package org.sparkzorder.commit.upkeep

import java.io.IOException

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{History, HistoryEntry, HistorySettings}
import org.sparkzorder.commit.place.FolderMark
import org.sparkzorder.compat._
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

/**
 * What a VACUUM does.
 *
 * @param retired the files that it deletes, oldest version first
 * @param gone the versions that are forgotten: they are old, and have no retired files afterwards
 */
final case class Expired(retired: Seq[RetiredFiles], gone: Set[Long]) {
  def isNothing: Boolean = retired.isEmpty && gone.isEmpty
  def files: Seq[FileMeta] = retired.flatMap(_.files)
  def bytes: Long = retired.map(_.bytes).sum
}

/**
 * A trash that stays, since other programs have written to files in it after they were replaced.
 *
 * @param files as they were when the trash was listed
 */
final case class KeptTrash(version: Long, trash: Path, files: Seq[FileMeta])

/** Retired files, which only RESTORE reads. */
object Trash {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /**
   * All retired files, oldest version first. It lists two folders in each data folder, and each trash.
   *
   * @param dirs folders to look into besides those that the records name: a partition may have been moved or copied
   */
  def all(folder: TableFolder, history: Seq[HistoryEntry], dirs: Seq[String] = Nil): Seq[RetiredFiles] =
    found(folder, history, dirs)._1

  /** The same, and the operations whose trash may be needed. */
  private def found(
      folder: TableFolder,
      history: Seq[HistoryEntry],
      dirs: Seq[String]
  ): (Seq[RetiredFiles], Set[String]) = {
    val records = History.undone(folder).map(_.record) ++ history.map(_.record)
    val trashes = (dirs ++ records.flatMap(_.folders.map(_.folder))).distinct.sorted
      .flatMap(dir => folder.ops.list(folder.trashesOf(dir)).filter(_.isDirectory))
    // A trash that no record of ours names belongs to another table, which shares the folder with this one.
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
    OperationMetrics.trash(folder.root).set(files.map(_._2.length).sum)
    val entries = history.map(e => e.record.operationId -> e).toMap
    val retired = files.groupMap(_._1)(_._2).toSeq.map { case (id, metas) =>
      RetiredFiles(byId(id), entries.get(id), metas.sortBy(_.path.toString))
    }
    (retired.sortBy(r => (r.version, r.operation.operationId)), halfDone.map(_._2))
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

  /**
   * The files that VACUUM deletes. The rest of a trash that was half deleted is always among them.
   *
   * @param isOld whether an operation's retired files may go
   * @param dirs as for [[all]]
   * @param settings how much of the history is kept
   * @param now milliseconds since 1970
   */
  def expired(
      folder: TableFolder,
      isOld: Record => Boolean,
      dirs: Seq[String] = Nil,
      settings: HistorySettings = HistorySettings(),
      now: Long = System.currentTimeMillis()
  ): Expired = {
    val history = History.read(folder)
    val (trash, needed) = found(folder, history, dirs)
    val (retired, kept) = trash.partition { retired =>
      retired.record match {
        case Some(entry) => entry.state == History.Vacuumed || isOld(entry.record)
        case None        => isOld(retired.operation)
      }
    }
    val withTrash = needed ++ kept.map(_.operation.operationId)
    def isGone(e: HistoryEntry) = (e.state == History.Vacuumed || isOld(e.record)) && !withTrash(e.record.operationId)
    Expired(retired, settings.forgotten(history, now)(isGone))
  }

  /**
   * Deletes the retired files of some versions. Needs the lock. The records are marked first, so
   * that RESTORE never uses a trash that is half deleted. If it fails the lock is abandoned, so
   * that the next statement removes empty folders.
   *
   * @return what stays
   */
  def vacuum(folder: TableFolder, lock: Lock, retired: Seq[RetiredFiles]): Seq[KeptTrash] = {
    retired.foreach(refuseTied(folder, _))
    lock.check()
    val published =
      SideListing.records(lock.listing()).filter(_.state == RecordState.Done).map(f => f.version -> f).toMap
    StatementProgress.current.foreach(_.enter(Phase.Deleting, until = 1, files = retired.map(_.files.size.toLong).sum))
    try {
      retired.filter(_.record.isDefined).flatMap(r => published.get(r.version)).foreach { file =>
        folder.ops.rename(file.meta.path, folder.vacuumed(file))
      }
      retired.flatMap { of =>
        val kept = delete(folder, lock, of)
        OperationMetrics.trash(folder.root).addAndGet(kept.flatMap(_.files).map(_.length).sum - of.bytes)
        kept
      }
    } catch {
      case e: IOException =>
        lock.abandon()
        throw e
    }
  }

  /** The same, and deletes the records of operations that are forgotten. */
  def vacuum(folder: TableFolder, lock: Lock, expired: Expired): Seq[KeptTrash] = {
    val kept = if (expired.retired.isEmpty) Nil else vacuum(folder, lock, expired.retired)
    // The record says what length the files had.
    History.forget(folder, lock, expired.gone -- kept.map(_.version))
    kept
  }

  /** Key material of a retired file may still be in its folder. Back under its name, the file could be read. */
  private def refuseTied(folder: TableFolder, retired: RetiredFiles): Unit =
    retired.operation.inputs.groupBy(_.folder).foreach { case (dir, inputs) =>
      val there = folder.ops.list(folder.resolve(dir))
      if (there.exists(m => CompanionNames.mayBe(m.name)))
        CompanionNames.refuse(there, inputs.map(i => i.name).toSet -- there.map(_.name), CompanionFileException.Deletes)
    }

  /**
   * Whether a retired file is longer or shorter than it was. A program that had it open may have appended rows. The
   * times of a copy are others, so they tell nothing. A partition may have been renamed, so that only the name counts.
   */
  private def isChanged(folder: TableFolder, operation: Record, file: FileMeta): Boolean = {
    val named = operation.inputs.filter(i => FileNames.retiredName(i.path) == file.name)
    val own = named.filter(i => folder.retired(i.path, operation) == file.path)
    val lengths = (if (own.isEmpty) named else own).map(_.length)
    lengths.nonEmpty && !lengths.contains(file.length)
  }

  private def delete(folder: TableFolder, lock: Lock, retired: RetiredFiles): Seq[KeptTrash] =
    retired.files.groupBy(_.path.getParent).toSeq.sortBy(_._1.toString).flatMap { case (trash, files) =>
      lock.check()
      // Others may have appended rows since the first list.
      val (changed, others) =
        folder.ops.list(trash).filterNot(_.isDirectory).partition(isChanged(folder, retired.operation, _))
      if (changed.isEmpty) folder.ops.deleteRecursive(trash)
      else {
        log.warn(
          s"${changed.map(_.path).mkString(", ")}: not deleted, since another program has written to it after " +
            s"version ${retired.version} replaced it. See 'A replaced file has new rows' in docs/on-call.md"
        )
        others.foreach(m => folder.ops.delete(m.path))
      }
      StatementProgress.current.foreach(_.done(Phase.Deleting, files.size.toLong))
      folder.ops.deleteEmpty(trash.getParent)
      // The root's side folder is not empty, as the lock is in it.
      folder.ops.deleteEmpty(trash.getParent.getParent)
      val kept = files.filter(f => changed.exists(_.path == f.path))
      if (changed.isEmpty) None else Some(KeptTrash(retired.version, trash, kept))
    }
}
