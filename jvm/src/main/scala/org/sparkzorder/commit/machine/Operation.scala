package org.sparkzorder.commit.machine

import java.io.IOException

import org.sparkzorder.commit._
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.place.Cleanup
import org.sparkzorder.commit.storage.ObjectFileOps

/** The steps of each operation that exchanges files of a table. */
private[sparkzorder] object Operation {

  /**
   * Exchanges files in their folders, by what the table's storage offers.
   *
   * @param keepsRetired whether the old files stay until VACUUM. On a disk they do in any case
   */
  def inFolders(folder: TableFolder, lock: Lock, keepsRetired: Boolean = true): Committer =
    ObjectFileOps.storeOf(folder).fold[Committer](new FolderCommitter(folder, lock))(
      ObjectCommitter.under(lock, _, folder, keepsRetired)
    )

  /**
   * @param begin claims folders, writes, and prepares the commit. If it fails, all is rolled back
   * @param end what follows when all rows are in place. The lock is still held
   * @throws CommitConflictException when `begin` failed and folders were overwritten meanwhile: a task then does not find
   *   its staging, or a look at a file fails
   */
  def run[A](
      committer: Committer,
      folder: TableFolder,
      lock: Lock
  )(begin: => A)(end: (Record, A) => Unit): (Record, A) = {
    val begun =
      try begin
      catch {
        case e: Throwable =>
          val overwritten = overwrittenFolders(committer, e)
          committer.abort()
          if (overwritten.isEmpty) throw e
          val conflict = new CommitConflictException(overwritten, "the folder was overwritten")
          conflict.addSuppressed(e)
          throw conflict
      }
    val done = OperationMetrics.whilePublishing(committer.commit())
    end(done, begun)
    Cleanup.old(folder, lock)
    (done, begun)
  }

  private def overwrittenFolders(committer: Committer, e: Throwable): Seq[String] = e match {
    case _: CommitException | _: InterruptedException => Nil
    case _: Exception                                 =>
      try committer.overwritten()
      catch { case _: IOException => Nil }
    case _ => Nil
  }
}
