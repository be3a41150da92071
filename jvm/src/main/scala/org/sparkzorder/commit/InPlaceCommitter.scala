package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path

/**
 * Brings one operation's files into a table on a disk or HDFS. It is used once: [[stage]], [[prepare]],
 * then [[commit]], or [[abort]] before that. Whatever happens, the caller calls `lock.release()` in the
 * end. If something must be recovered, the lock was abandoned, and its file stays.
 */
trait InPlaceCommitter {

  /**
   * Makes the staging of each folder that the job writes to. No row is touched.
   *
   * @param dirs relative to the root
   * @throws CommitConflictException when one of the folders is gone
   * @throws ConcurrentOperationException when an operation is running on a table over one of them
   */
  def stage(dirs: Seq[String]): Unit

  /** Folders that somebody has overwritten since [[stage]]. The files that the job wrote there are gone. */
  def overwritten(): Seq[String]

  /**
   * Gives the record its version. No row is touched.
   *
   * @param staged where each output is now, by its final relative path
   * @throws CommitConflictException when a folder is gone or an output is not what the record says;
   *   all is rolled back
   */
  def prepare(record: Record, staged: Map[String, Path]): Record

  /**
   * Exchanges the files. An interrupt of the caller ends the operation before its commit point; after it
   * the steps come to their end, and the caller is interrupted afterwards.
   *
   * @param keepLock whether the caller goes on under the lock: then the lock stays
   * @throws CommitConflictException when others changed the inputs
   * @throws IncompletePublishException when the file system failed
   */
  def commit(keepLock: Boolean = false): Record

  /** Rolls back an operation before [[commit]]. If that fails its lock file stays. */
  def abort(): Unit
}

object InPlaceCommitter {

  /** Which of both ways is taken, for tests of the one that is to come. */
  private[commit] val settles: Boolean = sys.props.get("zorder.test.settle").contains("true")

  /**
   * The version that a record gets.
   *
   * @param staged the final relative paths of the files that are ready
   * @throws IllegalArgumentException when the record may not be published under this lock
   */
  private[commit] def nextVersion(lock: Lock, record: Record, staged: Set[String]): Long = {
    require(
      record.operationId == lock.operationId,
      s"the lock is held by ${lock.operationId}, not by ${record.operationId}"
    )
    require(staged == record.outputs.map(_.path).toSet, "the staged files are not the record's outputs")
    Record.fault(record).foreach(why => throw new IllegalArgumentException(why))
    Failpoints.hit("after-staging")
    // Two listings, since one that is late may lack the newest record.
    val newest = Seq.fill(2)(lock.listing()).map { listing =>
      val underWay = SideListing.records(listing).find(_.state != RecordState.Undone).fold(0L)(_.version)
      math.max(underWay, SideListing.newestPublished(listing))
    }.max
    if (newest >= SideNames.MaxVersion) throw new IOException(s"no version comes after $newest")
    newest + 1
  }

  def apply(
      folder: TableFolder,
      lock: Lock,
      sleep: Long => Unit = Thread.sleep(_),
      history: HistorySettings = HistorySettings(),
      settles: Boolean = settles
  ): InPlaceCommitter =
    if (settles) new FolderCommitter(folder, lock, sleep, history) else new Committer(folder, lock, sleep, history)
}
