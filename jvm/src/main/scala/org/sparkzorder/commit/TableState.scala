package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/** What one listing of a table's side folder tells. */
sealed trait TableState
object TableState {

  /** Nobody has optimized or indexed the table. */
  case object NoSideFolder extends TableState

  /**
   * A table with a side folder.
   *
   * @param statuses the listing
   */
  final class SideFolder(val folder: TableFolder, val statuses: Seq[FileMeta]) extends TableState {
    private val records: Seq[RecordFile] = SideListing.records(statuses)

    /** Newest first, as all of these. Older published records are in a checkpoint. */
    val pending: Seq[RecordFile] = records.filter(_.state == RecordState.Pending)
    val publishing: Seq[RecordFile] = records.filter(_.state == RecordState.Publishing)
    val done: Seq[RecordFile] = records.filter(_.state.isPublished)

    /** Operations that were undone. The one that was published after them has the same version, or a higher one. */
    val undone: Seq[RecordFile] = records
      .filter(r => r.state == RecordState.Undoing || r.state == RecordState.Undone)
      .sortBy(r => (-r.version, -r.meta.modificationTime))
    val indexes: Seq[NumberedIndexFile] = SideListing.indexes(statuses)
    val locks: Seq[FileMeta] = SideListing.locks(statuses)

    /** The newest version that is published in full, with the status of its record. */
    def newestDone: Option[RecordFile] = done.headOption

    /** The newest checkpoint; the records in it have no files any more. */
    val checkpoint: Option[CheckpointFile] = SideListing.checkpoints(statuses).headOption

    /** Version 0 is the table before the first operation. */
    def version: Long = math.max(newestDone.fold(0L)(_.version), checkpoint.fold(0L)(_.version))

    /** Whether anything is under way or left over, so that the lock must be looked at. */
    def isBusy: Boolean = locks.nonEmpty || underWay

    /** Whether an operation has come to no end. */
    def underWay: Boolean =
      pending.nonEmpty || publishing.nonEmpty || undone.exists(_.state == RecordState.Undoing)

    /** Looks into lock files, if there are any. */
    def lockState(settings: LockSettings = LockSettings()): LockState =
      if (locks.isEmpty) LockState.NoLock else LockState.of(folder, locks, settings)

    /** Whether a dead owner left something behind. */
    def needsRecovery(settings: LockSettings): Boolean =
      isBusy && (lockState(settings) match {
        case LockState.Live(_) => false
        case LockState.Dead(_) => true
        case LockState.NoLock  => underWay
      })

    /**
     * The newest published record, from a small cache where possible.
     *
     * @throws UnreadableRecordException when it is damaged
     */
    def lastRecord: Option[Record] = newestDone.map(record)

    /** One of [[done]] or [[undone]], in the same way. */
    def record(file: RecordFile): Record = TableState.record(folder, file)
  }

  /** One listing of `<root>/_zorder`, and no more. */
  def look(root: Path, ops: FileOps): TableState = {
    val folder = TableFolder(root, ops)
    val statuses = ops.list(folder.side)
    if (statuses.isEmpty) NoSideFolder else new SideFolder(folder, statuses)
  }

  /** So many names of files may be in the cached records; of 10,000 files each, these are ten records. */
  private val CachedNames = 200000

  private val cache = new RecordCache(CachedNames)

  /** A record is never changed, but a table may be deleted and made anew: the file's status is the key. */
  private[commit] def record(folder: TableFolder, file: RecordFile): Record =
    cache.get(file.meta).getOrElse {
      val read = RecordJson.read(folder, file)
      cache.put(file.meta, read)
      read
    }
}
