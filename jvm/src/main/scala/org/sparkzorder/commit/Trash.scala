package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path

/**
 * The retired files of one operation of this table.
 *
 * @param operation that retired them
 * @param record None when the operation was undone
 */
final case class RetiredFiles(operation: Record, record: Option[HistoryEntry], files: Seq[FileMeta]) {
  def version: Long = operation.version
  def bytes: Long = files.map(_.length).sum
}

/** Retired files, which nobody but RESTORE reads. */
object Trash {

  /** All that is there, oldest version first: a listing of each folder that ever had files of ours, one of each trash. */
  def all(folder: TableFolder, history: Seq[HistoryEntry]): Seq[RetiredFiles] =
    all(folder, history, undone(folder))

  /** Records of operations that were undone, but for damaged ones. */
  private def undone(folder: TableFolder): Seq[Record] =
    TableFolder.records(folder.ops.list(folder.side)).filter(_.state == RecordState.Undone)
      .flatMap(History.readable(folder, _))

  private def all(
      folder: TableFolder,
      history: Seq[HistoryEntry],
      undone: Seq[Record]
  ): Seq[RetiredFiles] = {
    val records = undone ++ history.map(_.record)
    // What no record of ours names is another table's, whose folder is one of ours as well.
    val own = records.map(r => TableFolder.trashName(r) -> r).toMap
    val files = for {
      dir <- records.flatMap(_.folders.map(_.folder)).distinct.sorted
      trash <- folder.ops.list(folder.trashesOf(dir)) if trash.isDirectory
      record <- own.get(trash.name).toSeq
      file <- folder.ops.list(trash.path) if !file.isDirectory
    } yield record.operationId -> file
    val operations = records.map(r => r.operationId -> r).toMap
    val entries = history.map(e => e.record.operationId -> e).toMap
    files.groupMap(_._1)(_._2).toSeq.map { case (id, metas) =>
      RetiredFiles(operations(id), entries.get(id), metas.sortBy(_.path.toString))
    }.sortBy(retired => (retired.version, retired.operation.operationId))
  }

  /**
   * What VACUUM deletes, oldest version first. The rest of a trash that was half deleted goes in any case.
   *
   * @param isOld whether an operation's retired files are to go
   */
  def expired(folder: TableFolder, isOld: Record => Boolean): Seq[RetiredFiles] = {
    all(folder, History.read(folder)).filter { retired =>
      retired.record match {
        case Some(entry) => entry.state == History.Vacuumed || isOld(entry.record)
        case None        => isOld(retired.operation)
      }
    }
  }

  /**
   * Deletes the retired files of a version. Needs the lock. The record says so first: from a trash that is half deleted
   * nothing is restored. If it fails the lock is abandoned, so that the next statement takes away empty folders.
   */
  def vacuum(folder: TableFolder, lock: Lock, retired: RetiredFiles): Unit = {
    lock.check()
    // One that was undone may have a version that was given again, and has a trash of its own.
    val done = TableFolder.records(lock.listing()).find(f =>
      f.version == retired.version && f.state == RecordState.Done &&
        (retired.record.isDefined || retired.operation.format < 2)
    )
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
