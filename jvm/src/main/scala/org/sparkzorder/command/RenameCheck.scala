package org.sparkzorder.command

import java.io.IOException

import scala.collection.concurrent.TrieMap

import org.apache.hadoop.fs.{FileStatus, FileSystem, LocalFileSystem, Path, RawLocalFileSystem}

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.commit.storage.{ObjectFileOps, StoreProbe}
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{PlainTable, TableSideFolder}

/**
 * Checks that a file keeps its length and modification time when it is renamed. An operation
 * recognizes its files by these. Some object stores (S3A) rename a file by copying it, which
 * changes the time. An operation would then end with a conflict after all of its work.
 */
private[command] object RenameCheck {

  /** Longer than a second, since object stores keep times in whole seconds. */
  private val PauseMillis = 1100L

  private val known = TrieMap.empty[String, Boolean]

  /**
   * Renames a small file in the side folder to find out, once for each file system. Local disks and HDFS need no test.
   *
   * @param byCatalog whether no file of the table is renamed, since the catalog is told of a new folder
   */
  def refuseChanging(table: PlainTable, operation: String, byCatalog: Boolean = false): Unit =
    if (ObjectFileOps.storeOf(TableSideFolder.of(table)).isDefined)
      StoreProbe.lacks(TableSideFolder.of(table)).foreach { what =>
        throw ZOrderErrors.storeLacks(operation, table.name, table.fileSystem.getUri.toString, what)
      }
    else if (!byCatalog && !keeps(table))
      throw ZOrderErrors.renameChangesFiles(operation, table.name, table.fileSystem.getUri.toString)

  private def keeps(table: PlainTable): Boolean = table.fileSystem match {
    case _: LocalFileSystem | _: RawLocalFileSystem => true
    case fs if fs.getUri.getScheme == "hdfs"        => true
    // Each folder may be mounted from another file system.
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

  // The delete fails if another process uses the folder by now.
  private def deleteEmpty(fs: FileSystem, side: Path): Unit =
    try { fs.delete(side, false); () }
    catch { case _: IOException => () }
}
