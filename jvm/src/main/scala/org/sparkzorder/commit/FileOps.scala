package org.sparkzorder.commit

import java.io.FileNotFoundException

import org.apache.hadoop.fs.Path

/**
 * A file or folder as a listing shows it.
 *
 * @param length bytes; 0 for folders, and -1 for symbolic links to files or to nothing, so that no record is of one
 * @param modificationTime milliseconds since 1970, by the file system's clock
 */
final case class FileMeta(path: Path, length: Long, modificationTime: Long, isDirectory: Boolean) {
  def name: String = path.getName

  /** Whether it is a symbolic link to a file or to nothing. A link to a folder of data counts as that folder. */
  def isLink: Boolean = length == FileMeta.LinkLength
}

object FileMeta {
  val LinkLength: Long = -1L
}

/**
 * All that the commit protocol asks of a file system. Everything that renames or deletes goes through here, so that a
 * test can make any call fail, or the process die before or after it.
 *
 * Every method throws `java.io.IOException` when the file system refuses. No method makes missing parent folders but
 * `mkdirs`.
 */
trait FileOps {

  /** Files and folders directly below `dir`, in no order; empty when there is no such folder. */
  def list(dir: Path): Seq[FileMeta]

  /** What lies at `path`, None when nothing does. */
  def status(path: Path): Option[FileMeta]

  /**
   * What lies at these names in one folder, by name. A listing answers where that takes fewer calls, so it may be late: who
   * decides by what is missing or different in the answer asks for the [[status]] first.
   *
   * @param threads for calls that are made for each name
   */
  def statuses(dir: Path, names: Seq[String], threads: Int): Map[String, FileMeta] = {
    val wanted = names.toSet
    list(dir).iterator.filter(m => wanted(m.name)).map(m => m.name -> m).toMap
  }

  /**
   * Moves a file, keeping its modification time. Fails, leaving both ends alone, when `src` is missing, when anything
   * lies at `dst`, or when the folder of `dst` is missing.
   */
  def rename(src: Path, dst: Path): Unit

  /**
   * How to move files of the folder `from` to the folder `to`, which is one of ours: nobody else writes there. It moves one
   * file as [[rename]] does, from and to the given paths, and several threads may use it. What is common to all moves is
   * looked up once, now.
   *
   * @throws java.io.FileNotFoundException when one of the folders is missing
   */
  def mover(from: Path, to: Path): (Path, Path) => Unit = rename(_, _)

  /** Deletes one file, and Hadoop's checksum file beside it; not an error when it is gone already. */
  def delete(path: Path): Unit

  /** Deletes a folder if it is empty; false when it is not, or is not there. */
  def deleteEmpty(dir: Path): Boolean

  /**
   * Deletes a folder with all below it. Only for folders strictly below a `_zorder`: others are an
   * `IllegalArgumentException`.
   */
  def deleteRecursive(dir: Path): Unit

  /** Makes a folder and the missing ones above it. */
  def mkdirs(dir: Path): Unit

  /** Makes one folder, if it is not there yet; fails when the one above is missing. */
  def mkdir(dir: Path): Unit = {
    if (!exists(dir.getParent)) throw new FileNotFoundException(s"no folder ${dir.getParent}")
    mkdirs(dir)
  }

  /**
   * Makes a folder such as `_zorder/trash/v1` anew, with those of ours above it; fails when the folder of the data is
   * missing, which is never made anew.
   */
  def remakeInSide(dir: Path): Unit = Seq(dir.getParent.getParent, dir.getParent, dir).foreach(mkdir)

  /** Writes a new file; fails when something lies there or its folder is missing. */
  def writeNew(path: Path, bytes: Array[Byte]): Unit

  /** The same for a file that is to have no rights but these, from the beginning; `0x1a4` are those of `rw-r--r--`. */
  def writeNew(path: Path, bytes: Array[Byte], mode: Int): Unit = writeNew(path, bytes)

  /** The rights that there are on all these folders and all files in them, as far as the file system knows rights. */
  def commonMode(folders: Seq[Path]): Int = 0xfff

  /** Gives files that are to replace others their rights and their group, as far as the file system knows such. */
  def adoptRights(written: Seq[Path], replaced: Seq[Path]): Unit = ()

  /** All bytes of a file. Fails when there are more than `limit`. */
  def read(path: Path, limit: Long): Array[Byte]

  /**
   * Sets the modification time of a file to now, by the file system's clock as far as it is known. Never makes the
   * file.
   */
  def touch(path: Path): Unit

  /** The path of what lies there without links in it, as far as the file system knows links; the path itself if nothing is. */
  def realPath(path: Path): Path = path

  def exists(path: Path): Boolean = status(path).isDefined
}

object FileOps {

  /** Refuses what is not strictly below a side folder: the last guard before a recursive delete. */
  def requireBelowSideFolder(dir: Path): Unit = {
    val parts = dir.toUri.getPath.split('/').filter(_.nonEmpty)
    val side = parts.indexOf(SideNames.Side)
    require(
      side >= 0 && side < parts.length - 1 && !parts.contains(".."),
      s"not below a ${SideNames.Side} folder: $dir"
    )
  }
}
