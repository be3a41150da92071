package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/**
 * Publishes one operation, with what its storage or the catalog offers for that. It is used once: [[claim]],
 * [[prepare]] and [[commit]], or [[abort]] before the last. The lock is held all the time.
 */
trait Committer {

  /**
   * Takes folders for the operation, before it reads their files. No row is touched.
   *
   * @param folders relative to the root
   * @throws CommitConflictException when one of them is gone
   * @throws ConcurrentOperationException when another operation is exchanging files of one of them
   */
  def claim(folders: Seq[String]): Unit

  /**
   * Where tasks write the new files of a folder.
   *
   * @param folder relative to the root
   * @param path of the folder
   */
  def target(folder: String, path: Path): Path

  /** Whether tasks leave their uploads open, so that new files get their time stamps only by [[commit]]. */
  def leavesUploadsOpen: Boolean

  /**
   * Makes all ready for the commit point. No row is touched.
   *
   * @param record any version, as the next one is given here or by [[commit]]
   * @throws CommitConflictException when a file is not as the record says
   * @throws ConcurrentOperationException when another operation is exchanging files of the table
   */
  def prepare(record: Record): Unit

  /**
   * Writes the record, which is the commit point, and exchanges the files. If it fails before the record is there, all
   * is rolled back.
   *
   * @return the record as it is in the history
   * @throws CommitConflictException when others changed files of some folders, which keep theirs
   * @throws IncompletePublishException when the storage failed after the commit point
   */
  def commit(): Record

  def overwritten(): Seq[String]

  /** Rolls back an operation that has no record. If that fails, the next statement does it. */
  def abort(): Unit
}
