package org.sparkzorder.commit

import java.io.FileNotFoundException

import org.apache.hadoop.fs.Path

/**
 * The calls to a file system that the commit protocol needs. Everything that renames or deletes
 * goes through here. So a test can make any call fail, or let the process die before or after it.
 *
 * Every method throws `java.io.IOException` when the file system refuses. No method makes missing
 * parent folders but `mkdirs`.
 */
trait FileOps {

  /** How many calls may be made at the same time. */
  def threads: Int = FileOps.Threads

  /** Files and folders directly below `dir`, in no order; empty when there is no such folder. */
  def list(dir: Path): Seq[FileMeta]

  /** The file or folder at `path`, None when there is none. */
  def status(path: Path): Option[FileMeta]

  /**
   * Moves a file, keeping its modification time. Fails, and changes nothing, when `src` is missing,
   * when there is a file or folder at `dst`, or when the folder of `dst` is missing.
   */
  def rename(src: Path, dst: Path): Unit

  /**
   * Copies a file byte by byte, so that no part of it is ever visible. Fails when there is a file at `to`.
   *
   * @param temporary a free name on the same file system, in a folder that is there; it is needed where
   *                  files are seen while they are written
   * @param check comes between the bytes, which may take long, and the name, and throws if that must not come
   */
  def copy(from: FileMeta, temporary: Path, to: Path)(check: => Unit): Unit

  /** Deletes one file, and Hadoop's checksum file beside it; not an error when it is gone already. */
  def delete(path: Path): Unit

  /** Whether a folder stays when nothing is in it any more. */
  def keepsEmptyFolders: Boolean = true

  /** Deletes a folder if it is empty; false when it is not, or is not there. */
  def deleteEmpty(dir: Path): Boolean

  /**
   * Deletes a folder with all below it. Only for folders strictly below a `_zorder`, and for
   * generations ([[VersionDirectory]]): others are an `IllegalArgumentException`.
   */
  def deleteRecursive(dir: Path): Unit

  /** Makes a folder and the missing ones above it. */
  def mkdirs(dir: Path): Unit

  /**
   * Makes a folder and the missing ones above it. The new ones get the rights, the group, the owner and the storage
   * policy of another folder, where the file system has such.
   *
   * @throws java.io.IOException also when the other folder is in an encryption zone and the new one is not
   */
  def mkdirsLike(dir: Path, like: Path): Unit = mkdirs(dir)

  /** Makes one folder, if it is not there yet; fails when the one above is missing. */
  def mkdir(dir: Path): Unit = {
    if (!exists(dir.getParent)) throw new FileNotFoundException(s"no folder ${dir.getParent}")
    mkdirs(dir)
  }

  /**
   * Makes a folder such as `_zorder/trash/v1` anew, with `_zorder` and `trash` above it. Fails when
   * the folder of the data is missing, as that one must not come back.
   */
  def remakeInSide(dir: Path): Unit = Seq(dir.getParent.getParent, dir.getParent, dir).foreach(mkdir)

  /** Writes a new file. Fails when there is one, or when its folder is missing. */
  def writeNew(path: Path, bytes: Array[Byte]): Unit

  /** Whether a new file is visible only once all of it is written. */
  def writesAtOnce: Boolean = false

  /** Writes a file that has at most these rights, from the beginning; `0x1a4` is `rw-r--r--`. */
  def writeNew(path: Path, bytes: Array[Byte], mode: Int): Unit = writeNew(path, bytes)

  /**
   * The rights that all these folders, and all files in them, have in common. All rights if the file system has none.
   */
  def commonMode(folders: Seq[Path]): Int = 0xfff

  /** Gives files the rights and the group of the files that they replace, where the file system has such. */
  def adoptRights(written: Seq[Path], replaced: Seq[Path]): Unit = ()

  /** All bytes of a file. Fails when there are more than `limit`. */
  def read(path: Path, limit: Long): Array[Byte]

  /**
   * Sets the modification time of a file to now, by the file system's clock as far as it is known.
   * Never makes the file.
   */
  def touch(path: Path): Unit

  /** The path without symbolic links, where the file system has them. The path itself if nothing is there. */
  def realPath(path: Path): Path = path

  /**
   * Whether another file system is mounted at this folder, as far as it can be told. Nothing can be renamed
   * between it and a folder beside it.
   */
  def isMountPoint(path: Path): Boolean = false

  def exists(path: Path): Boolean = status(path).isDefined

  def isFolder(path: Path): Boolean = status(path).exists(_.isDirectory)
}

object FileOps {
  private[commit] val Threads = 8

  /**
   * Refuses a path that is neither strictly below a side folder nor in a generation of a table. It is
   * the last guard before a recursive delete.
   */
  def requireBelowSideFolder(dir: Path): Unit = {
    val parts = dir.toUri.getPath.split('/').filter(_.nonEmpty)
    val side = parts.indexOf(SideNames.Side)
    require(
      (side >= 0 && side < parts.length - 1 || VersionDirectory.generationOf(dir).isDefined) && !parts.contains(".."),
      s"not below a ${SideNames.Side} folder: $dir"
    )
  }
}

/**
 * A file or folder as a listing shows it.
 *
 * @param length bytes; 0 for folders, and -1 for symbolic links to files or to nothing, so that they match no record
 * @param modificationTime milliseconds since 1970, by the file system's clock
 * @param etag of an object store: another one for each content
 */
final case class FileMeta(
    path: Path,
    length: Long,
    modificationTime: Long,
    isDirectory: Boolean,
    etag: Option[String] = None
) {
  def name: String = path.getName

  /** Whether it is a symbolic link to a file or to nothing. A link to a folder of data counts as that folder. */
  def isLink: Boolean = length == FileMeta.LinkLength
}

object FileMeta {
  val LinkLength: Long = -1L
}
