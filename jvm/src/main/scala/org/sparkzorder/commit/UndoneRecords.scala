package org.sparkzorder.commit

/** Records of operations that were undone: only from them can a listing be known that was made while they lasted. */
object UndoneRecords {

  /** A DataFrame whose files were listed longer ago, and that is run for the first time now, is nobody's. */
  private val KeptMillis = 7L * 24 * 3600 * 1000

  /** Removes those that are old enough, with their notes. Needs the lock, whose time stamp tells the time. */
  def prune(folder: TableFolder, lock: Lock): Unit = {
    val statuses = folder.ops.list(folder.side)
    val now = statuses.find(_.name == lock.path.getName).map(_.modificationTime)
    def isOld(meta: FileMeta): Boolean = now.exists(_ - meta.modificationTime > KeptMillis)
    val records = SideListing.records(statuses)
    val gone = records.filter { file =>
      // By the record alone VACUUM knows whose the files in its trash are.
      file.state == RecordState.Undone && isOld(file.meta) &&
      !History.readable(folder, file).exists(hasTrash(folder, _))
    }
    gone.foreach(file => folder.ops.delete(file.meta.path))
    // A note belongs to the record of an operation that was undone, or else to the published one of its version.
    def operations(of: Seq[RecordFile]) =
      of.map(f => SideNames.plain(f.meta.name).stripSuffix(s".${RecordState.Undone.suffix}")).toSet
    val (ended, kept) = (operations(gone), records.filterNot(gone.contains))
    val noted = operations(kept.filter(_.state == RecordState.Undone)) ++
      kept.filterNot(_.state == RecordState.Undone).map(f => SideNames.versionName(f.version))
    statuses.filter(m => m.name.endsWith(SideNames.OutcomeSuffix) && isOld(m)).foreach { note =>
      val name = SideNames.plain(note.name).stripSuffix(SideNames.OutcomeSuffix)
      if (ended(name) || !noted(name) && !noted(name.takeWhile(_ != '-'))) folder.ops.delete(note.path)
    }
  }

  private def hasTrash(folder: TableFolder, record: Record): Boolean =
    record.folders.exists(work => folder.ops.list(folder.trashOf(work.folder, record)).nonEmpty)
}
