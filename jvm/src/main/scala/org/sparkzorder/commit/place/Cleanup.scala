package org.sparkzorder.commit.place

import java.io.IOException

import org.slf4j.LoggerFactory

import org.sparkzorder.commit.{FileNames, LockLostException, Record, TableFolder, WorkerThreads}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.log.{StagingDirectories, UndoneRecords}
import org.sparkzorder.commit.side.IndexFiles

/** Removes what an operation leaves beside the data: files that its record names, and folders that are empty. */
private[commit] object Cleanup {

  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /** Removes old statistics and records, when all rows are in place. So it never fails. Needs the lock. */
  def old(folder: TableFolder, lock: Lock): Unit =
    try {
      val statuses = lock.listing()
      IndexFiles.prune(folder, statuses)
      UndoneRecords.prune(folder, lock, statuses)
    } catch { case e @ (_: IOException | _: LockLostException) => log.warn(s"cannot clean up in ${folder.root}", e) }

  /** Removes the empty folders that a published operation, or a VACUUM of it, has left. */
  def done(folder: TableFolder, record: Record): Unit = {
    val sources = record.outputs.flatMap(_.source).map(FileNames.parent).distinct
    sources.foreach(trash => folder.ops.deleteEmpty(folder.resolve(trash)))
    WorkerThreads.each(record.folders, folder.threads)(work => folders(folder, work.folder, record))
  }

  private def folders(folder: TableFolder, dir: String, record: Record): Unit = {
    val ops = folder.ops
    // Failed attempts of tasks may have left files in it. Then it stays until the whole job is cleaned up.
    ops.deleteEmpty(folder.stagingOf(dir, record.operationId))
    ops.deleteEmpty(folder.stagingsOf(dir))
    ops.deleteEmpty(folder.trashOf(dir, record))
    ops.deleteEmpty(folder.trashesOf(dir))
    if (dir.nonEmpty) ops.deleteEmpty(folder.sideOf(dir))
    ()
  }

  /**
   * Removes files that an operation's job wrote and did not hand over. The manifest goes last, so
   * that after a crash in between the next statement starts over.
   */
  def job(folder: TableFolder, operationId: String): Unit = {
    (StagingDirectories.read(folder, operationId) :+ "").distinct.foreach { dir =>
      val staging = folder.stagingOf(dir, operationId)
      if (folder.ops.exists(staging)) folder.ops.deleteRecursive(staging)
      folder.ops.deleteEmpty(folder.stagingsOf(dir))
      if (dir.nonEmpty) folder.ops.deleteEmpty(folder.sideOf(dir))
    }
    folder.ops.delete(folder.manifest(operationId))
  }
}
