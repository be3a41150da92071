package org.sparkzorder.commit

/** Records of operations that were undone: only from them can a listing be known that was made while they lasted. */
object Undone {

  /** A DataFrame whose files were listed longer ago, and that is run for the first time now, is nobody's. */
  private val KeptMillis = 7L * 24 * 3600 * 1000

  /** Removes those that are old enough. Needs the lock, whose time stamp tells the time. */
  def prune(folder: TableFolder, lock: Lock): Unit = {
    val statuses = folder.ops.list(folder.side)
    val now = statuses.find(_.name == lock.path.getName).map(_.modificationTime)
    TableFolder.records(statuses).foreach { file =>
      if (file.state == RecordState.Undone && now.exists(_ - file.meta.modificationTime > KeptMillis)) {
        // By the record alone VACUUM knows whose the files in its trash are.
        if (!History.readable(folder, file).exists(hasTrash(folder, _))) folder.ops.delete(file.meta.path)
      }
    }
  }

  private def hasTrash(folder: TableFolder, record: Record): Boolean =
    record.folders.exists(work => folder.ops.list(folder.trashOf(work.folder, record)).nonEmpty)
}
