package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path

/**
 * The retired files of one version.
 *
 * @param record None when there is no operation of this version (any more), or when it was undone
 */
final case class RetiredFiles(version: Long, record: Option[HistoryEntry], files: Seq[FileMeta]) {
  def bytes: Long = files.filterNot(_.isLink).map(_.length).sum
}

/** Retired files, which nobody but RESTORE reads. */
object Trash {

  /** All that is there, oldest version first: a listing of each folder that ever had files of ours, one of each trash. */
  def all(folder: TableFolder, history: Seq[HistoryEntry]): Seq[RetiredFiles] =
    all(folder, history, besides(folder, history))

  /** Records that are not part of the history; None for one that is damaged or gone. */
  private def besides(folder: TableFolder, history: Seq[HistoryEntry]): Seq[(RecordFile, Option[Record])] = {
    val versions = history.map(_.record.version).toSet
    TableFolder.records(folder.ops.list(folder.side))
      .filterNot(f => f.state.isPublished && versions(f.version))
      .map(f => f -> History.readable(folder, f))
  }

  private def all(
      folder: TableFolder,
      history: Seq[HistoryEntry],
      others: Seq[(RecordFile, Option[Record])]
  ): Seq[RetiredFiles] = {
    val records = history.map(_.record) ++ others.collect { case (f, Some(r)) if f.state == RecordState.Undone => r }
    val files = for {
      dir <- records.flatMap(_.folders.map(_.folder)).distinct.sorted
      trash <- folder.ops.list(folder.trashesOf(dir)) if trash.isDirectory
      version <- TableFolder.trashVersion(trash.name).toSeq
      file <- folder.ops.list(trash.path) if !file.isDirectory
    } yield version -> file
    val entries = history.map(e => e.record.version -> e).toMap
    files.groupMap(_._1)(_._2).toSeq.sortBy(_._1).map { case (version, metas) =>
      RetiredFiles(version, entries.get(version), metas.sortBy(_.path.toString))
    }
  }

  /**
   * What VACUUM deletes, oldest version first. The rest of a trash that was half deleted goes in any case, as does what
   * an operation left there that was undone and is forgotten.
   *
   * @param isOld whether an operation's retired files are to go
   */
  def expired(folder: TableFolder, isOld: Record => Boolean): Seq[RetiredFiles] = {
    val history = History.read(folder)
    val others = besides(folder, history)
    all(folder, history, others).filter { retired =>
      retired.record match {
        case Some(entry) => entry.state == History.Vacuumed || isOld(entry.record)
        // Undone, or unreadable.
        case None => others.filter(_._1.version == retired.version).forall(_._2.exists(isOld))
      }
    }
  }

  /**
   * Deletes the retired files of a version. Needs the lock. The record says so first: from a trash that is half deleted
   * nothing is restored. If it fails the lock is abandoned, so that the next statement takes away empty folders.
   */
  def vacuum(folder: TableFolder, lock: Lock, retired: RetiredFiles): Unit = {
    lock.check()
    val done =
      TableFolder.records(lock.listing()).find(f => f.version == retired.version && f.state == RecordState.Done)
    // Nothing is forgotten whose record just was not listed yet.
    if (retired.record.isDefined || done.isEmpty) {
      try {
        done.foreach(file => folder.ops.rename(file.meta.path, folder.vacuumed(file)))
        Failpoints.hit("vacuum-record")
        retired.files.map(_.path.getParent).distinct.foreach(delete(folder.ops, lock, _))
      } catch {
        case e: IOException =>
          lock.abandon()
          throw e
      }
    }
  }

  private def delete(ops: FileOps, lock: Lock, trash: Path): Unit = {
    lock.check()
    ops.deleteRecursive(trash)
    ops.deleteEmpty(trash.getParent)
    // The table's own holds the lock, and stays.
    ops.deleteEmpty(trash.getParent.getParent)
    Failpoints.hit("vacuum-1")
  }
}
