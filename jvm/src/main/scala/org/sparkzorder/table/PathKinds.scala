package org.sparkzorder.table

import java.io.FileNotFoundException

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import org.sparkzorder.commit.ObjectStore
import org.sparkzorder.commit.storage.ObjectStores

/**
 * Whether a path is a file or a folder, links followed. On an object store this takes one request,
 * where Hadoop's file system asks for both kinds.
 */
private[table] object PathKinds {

  def isFolder(fs: FileSystem, path: Path): Boolean = ask(fs, path)(_.isFolder(path), _.isDirectory)

  /** Whether there is a file or a folder at the path. A folder is enough on an object store: no format has a log in one object. */
  def exists(fs: FileSystem, path: Path): Boolean = ask(fs, path)(_.isFolder(path), _ => true)

  def isFile(fs: FileSystem, path: Path): Boolean = ask(fs, path)(_.objectAt(path).isDefined, _.isFile)

  /** The names of what is in a folder, if one request to an object store tells all. */
  def namesIfShort(fs: FileSystem, folder: Path): Option[Set[String]] =
    ObjectStores.storeOf(fs).flatMap(_.listIfShort(folder)).map(_.map(_.name).toSet)

  /** The paths of all files below a folder, hidden ones as well, if it is on an object store. */
  def filesBelow(fs: FileSystem, folder: Path): Option[Set[String]] =
    ObjectStores.storeOf(fs).map(_.below(folder).map(_.toUri.getPath).toSet)

  private def ask(fs: FileSystem, path: Path)(ofStore: ObjectStore => Boolean, of: FileStatus => Boolean): Boolean =
    ObjectStores.storeOf(fs) match {
      case Some(store) => ofStore(store)
      case None        =>
        try of(fs.getFileStatus(path))
        catch { case _: FileNotFoundException => false }
    }
}
