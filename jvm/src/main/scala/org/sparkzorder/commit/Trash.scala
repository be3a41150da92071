package org.sparkzorder.commit

/** Retired files, which nobody but RESTORE reads. */
object Trash {

  /** The retired files of a version that are still there, by the relative names that they had. */
  def files(folder: TableFolder, record: Record): Map[String, FileMeta] =
    record.folders.flatMap { work =>
      folder.ops.list(folder.trashOf(
        work.folder,
        record.version
      )).filter(_.name.endsWith(TableFolder.RetiredSuffix)).map { meta =>
        val name = meta.name.stripSuffix(TableFolder.RetiredSuffix)
        (if (work.folder.isEmpty) name else s"${work.folder}/$name") -> meta
      }
    }.toMap

  /** The records whose retired files are older than `before` (milliseconds since 1970), oldest first. */
  def expired(folder: TableFolder, before: Long): Seq[Record] =
    History.read(folder).filter(e => e.state != History.Vacuumed && e.record.timestamp < before).map(_.record).reverse

  /**
   * Deletes the retired files of a version. Needs the lock. The record says so first: a trash that is half deleted
   * must not
   * be restored from.
   */
  def vacuum(folder: TableFolder, lock: Lock, record: Record): Unit = {
    val ops = folder.ops
    lock.check()
    TableFolder.records(ops.list(folder.side)).find(f => f.version == record.version && f.state == RecordState.Done)
      .foreach(done => ops.rename(done.meta.path, folder.vacuumed(done)))
    record.folders.foreach { work =>
      lock.check()
      val trash = folder.trashOf(work.folder, record.version)
      if (ops.exists(trash)) ops.deleteRecursive(trash)
      ops.deleteEmpty(folder.trashesOf(work.folder))
      if (work.folder.nonEmpty) ops.deleteEmpty(folder.sideOf(work.folder))
    }
  }
}
