package org.sparkzorder.table

import java.io.FileNotFoundException

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import org.sparkzorder.commit.{ObjectStore, ObjectStores}

/**
 * Whether a path is a file or a folder, links followed. On an object store this takes one request,
 * where Hadoop's file system asks for both kinds.
 */
private[table] object PathKinds {

  /** Whether there is a folder at the path. */
  def isFolder(fs: FileSystem, path: Path): Boolean = ask(fs, path)(_.isFolder(path), _.isDirectory)

  /** Whether there is a file or a folder at the path. A folder is enough on an object store: no format has a log in one object. */
  def exists(fs: FileSystem, path: Path): Boolean = ask(fs, path)(_.isFolder(path), _ => true)

  /** Whether there is a file at the path. */
  def isFile(fs: FileSystem, path: Path): Boolean = ask(fs, path)(_.objectAt(path).isDefined, _.isFile)

  private def ask(fs: FileSystem, path: Path)(ofStore: ObjectStore => Boolean, of: FileStatus => Boolean): Boolean =
    ObjectStores.storeOf(fs) match {
      case Some(store) => ofStore(store)
      case None        =>
        try of(fs.getFileStatus(path))
        catch { case _: FileNotFoundException => false }
    }
}
