package org.sparkzorder.commit.log

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.storage.ObjectFileOps

/** Records of operations that were undone. They are kept for queries whose listings were made during the operation. */
object UndoneRecords {

  /** So old a listing is not expected to be used by a query. */
  private val KeptMillis = 7L * 24 * 3600 * 1000

  /**
   * Removes old records with their outcomes. Needs the lock, whose time stamp tells the time.
   *
   * @param statuses a listing of the side folder under the lock
   */
  private[commit] def prune(folder: TableFolder, lock: Lock, statuses: Seq[FileMeta]): Unit = {
    val now = statuses.find(_.name == lock.path.getName).map(_.modificationTime)
    def isOld(meta: FileMeta): Boolean = now.exists(_ - meta.modificationTime > KeptMillis)
    val records = SideListing.records(statuses)
    val restorable = records.filter(_.state == RecordState.Done).map(_.version)
    // On an object store it stands for its version, as long as RESTORE may go back beyond that.
    def isGap(version: Long) = ObjectFileOps.storeOf(folder).isDefined && restorable.exists(_ > version)
    val gone = records.filter { file =>
      // VACUUM needs the record to know whose files are in the trash.
      file.state == RecordState.Undone && isOld(file.meta) && !isGap(file.version) &&
      !History.readable(folder, file).exists(hasTrash(folder, _))
    }
    gone.foreach(file => folder.ops.delete(file.meta.path))
    // An outcome belongs to the record of an undone operation, or else to the published record of its version.
    def operations(of: Seq[RecordFile]) = of.map(f => f.meta.name.stripSuffix(s".${RecordState.Undone.suffix}")).toSet
    val (ended, kept) = (operations(gone), records.filterNot(gone.contains))
    val noted = operations(kept.filter(_.state == RecordState.Undone)) ++
      kept.filterNot(_.state == RecordState.Undone).map(f => TableFolder.recordName(f.version))
    statuses.filter(m => m.name.endsWith(SideNames.OutcomeSuffix) && isOld(m)).foreach { note =>
      val name = note.name.stripSuffix(SideNames.OutcomeSuffix)
      if (ended(name) || !noted(name) && !noted(name.takeWhile(_ != '-'))) folder.ops.delete(note.path)
    }
  }

  private def hasTrash(folder: TableFolder, record: Record): Boolean =
    record.folders.exists(work => folder.ops.list(folder.trashOf(work.folder, record)).nonEmpty)
}
