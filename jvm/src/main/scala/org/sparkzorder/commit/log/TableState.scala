package org.sparkzorder.commit.log

import java.util.LinkedHashMap

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.{LockSettings, LockState}

/** The state of a table, as one listing of its side folder shows it. */
sealed trait TableState {

  /** The listing. Empty if the table was never optimized or indexed. */
  def statuses: Seq[FileMeta]

  private lazy val records: Seq[RecordFile] = SideListing.records(statuses)

  // All of these are newest first. VACUUM deletes records of older published operations.
  lazy val publishing: Seq[RecordFile] = records.filter(_.state == RecordState.Publishing)
  lazy val done: Seq[RecordFile] = records.filter(_.state.isPublished)

  /** Operations that are exchanging files. Of one that is in the history only the record is left. */
  def exchanging: Seq[RecordFile] = publishing.filterNot(p => done.exists(_.version == p.version))
  lazy val moving: Seq[RecordFile] = records.filter(_.state == RecordState.Moving)

  /** Operations that were undone. The operation that was published next has the same version, or a higher one. */
  lazy val undone: Seq[RecordFile] =
    records.filter(_.state == RecordState.Undone).sortBy(r => (-r.version, -r.meta.modificationTime))
  lazy val indexes: Seq[NumberedIndexFile] = SideListing.indexes(statuses)
  lazy val locks: Seq[FileMeta] = SideListing.locks(statuses)
  def newestDone: Option[RecordFile] = done.headOption

  /** Version 0 is the table before the first operation. */
  def version: Long = newestDone.fold(0L)(_.version)

  /** Whether an operation is under way or left something, so that the lock must be looked at. */
  def isBusy: Boolean = locks.nonEmpty || publishing.nonEmpty
  def lockState(settings: LockSettings = LockSettings()): LockState

  def needsRecovery(settings: LockSettings): Boolean =
    isBusy && (lockState(settings) match {
      case LockState.Live(_) => false
      case LockState.Dead(_) => true
      case LockState.NoLock  => publishing.nonEmpty
    })
}

object TableState {

  case object NoSideFolder extends TableState {
    override def statuses: Seq[FileMeta] = Nil
    override def lockState(settings: LockSettings): LockState = LockState.NoLock
  }

  final class SideFolder(val folder: TableFolder, override val statuses: Seq[FileMeta]) extends TableState {
    override def lockState(settings: LockSettings): LockState =
      if (locks.isEmpty) LockState.NoLock else LockState.of(folder, locks, settings)

    /**
     * The newest published record, from a small cache where possible.
     *
     * @throws UnreadableRecordException when it is damaged
     */
    def lastRecord: Option[Record] = newestDone.map(record)

    /** A record of [[done]] or [[undone]], from the cache where possible. */
    def record(file: RecordFile): Record = TableState.record(folder, file)
  }

  /** One listing of `<root>/_zorder`, and no more. */
  def look(root: Path, ops: FileOps): TableState = {
    val folder = TableFolder(root, ops)
    val statuses = ops.list(folder.side)
    if (statuses.isEmpty) NoSideFolder else new SideFolder(folder, statuses)
  }

  /** The cached records may have so many file names. That is ten records of operations on 10,000 files. */
  private val CachedNames = 200000

  private val cache = new RecordCache(CachedNames)

  /**
   * A record is never changed, but a table may be deleted and made anew. So the file's status is the key in the cache.
   */
  private[commit] def record(folder: TableFolder, file: RecordFile): Record =
    cache.get(file.meta).getOrElse {
      val read = RecordJson.read(folder, file)
      cache.put(file.meta, read)
      read
    }
}

/**
 * Parsed records. The least recently used ones are dropped first. Its size is counted in file names, since one record
 * may have ten names or a million. The newest record stays, however long it is.
 */
private[commit] final class RecordCache(maxNames: Long) {
  private val records = new LinkedHashMap[FileMeta, Record](16, 0.75f, true)
  private var names = 0L

  /** Ten more than it has names, as a record without files takes memory, too. */
  private def sizeOf(record: Record): Long = 10L + record.inputs.length + record.outputs.length

  def get(file: FileMeta): Option[Record] = synchronized(Option(records.get(file)))

  def put(file: FileMeta, record: Record): Unit = synchronized {
    Option(records.put(file, record)).foreach(old => names -= sizeOf(old))
    names += sizeOf(record)
    val eldest = records.entrySet.iterator
    while (names > maxNames && records.size > 1) {
      names -= sizeOf(eldest.next().getValue)
      eldest.remove()
    }
  }

  private[commit] def size: Int = synchronized(records.size)
}
