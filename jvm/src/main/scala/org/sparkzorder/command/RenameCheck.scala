package org.sparkzorder.command

import java.io.IOException

import scala.collection.concurrent.TrieMap

import org.apache.hadoop.fs.{FileStatus, FileSystem, LocalFileSystem, Path, RawLocalFileSystem}

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{PlainTable, TableSideFolder}

/**
 * Whether a file is the same after a rename. An exchange of files knows them again by length and modification time. Object
 * stores copy a file under its new name, which gives it another time (S3A), and so would end every exchange with a
 * conflict, when all the work is done.
 */
private[command] object RenameCheck {

  /** The clocks of object stores show whole seconds. */
  private val PauseMillis = 1100L

  private val known = TrieMap.empty[String, Boolean]

  /** Tries it with a small file in the side folder, once for each file system, and never on local disks and HDFS. */
  def refuseChanging(table: PlainTable, operation: String): Unit =
    if (!keeps(table)) throw ZOrderErrors.renameChangesFiles(operation, table.name, table.fileSystem.getUri.toString)

  private def keeps(table: PlainTable): Boolean = table.fileSystem match {
    case _: LocalFileSystem | _: RawLocalFileSystem => true
    case fs if fs.getUri.getScheme == "hdfs"        => true
    // Mount points: each folder may be on another.
    case fs if fs.getUri.getScheme == "viewfs" => keepsHere(fs, TableSideFolder.of(table))
    case fs => known.getOrElseUpdate(fs.getUri.toString, keepsHere(fs, TableSideFolder.of(table)))
  }

  private[command] def keepsHere(fs: FileSystem, folder: TableFolder, pauseMillis: Long = PauseMillis): Boolean = {
    val isNew = !fs.exists(folder.side)
    folder.ops.mkdirs(folder.side)
    val (from, to) = (folder.newProbe(), folder.newProbe())
    try {
      folder.ops.writeNew(from, Array[Byte](1))
      val before = fs.getFileStatus(from)
      Thread.sleep(pauseMillis)
      fs.rename(from, to) && isSame(before, fs.getFileStatus(to))
    } finally {
      fs.delete(from, false)
      fs.delete(to, false)
      if (isNew) deleteEmpty(fs, folder.side)
    }
  }

  private def isSame(before: FileStatus, after: FileStatus): Boolean =
    before.getLen == after.getLen && before.getModificationTime == after.getModificationTime

  // Somebody else may have begun to work there.
  private def deleteEmpty(fs: FileSystem, side: Path): Unit =
    try { fs.delete(side, false); () }
    catch { case _: IOException => () }
}
