package org.sparkzorder.commit.storage

import java.io.{FileNotFoundException, IOException}

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{FileMeta, FileOps, TableFolder}

/** Files that are complete before they get their names, so that readers find the whole file or nothing. */
private[commit] object AtomicFile {

  /**
   * Writes the file under a temporary name and renames it. If anything fails, the temporary file is
   * deleted. Where a file is visible only once it is complete, it is written under its own name.
   *
   * @param temporary a free name on the same file system
   * @param mode the most rights that the file may have, where the file system has rights
   * @param check runs right before the rename, and may refuse it by an exception
   */
  def put(ops: FileOps, temporary: Path, target: Path, bytes: Array[Byte], mode: Option[Int] = None)(
      check: => Unit
  ): Unit =
    if (ops.writesAtOnce) {
      check
      ops.writeNew(target, bytes)
    } else
      try {
        mode.fold(ops.writeNew(temporary, bytes))(ops.writeNew(temporary, bytes, _))
        check
        ops.rename(temporary, target)
      } catch {
        case e: IOException =>
          try ops.delete(temporary)
          catch { case also: IOException => e.addSuppressed(also) }
          throw e
      }

  def written(ops: FileOps, target: Path): FileMeta =
    ops.status(target).getOrElse(throw new FileNotFoundException(s"$target vanished"))
}

/**
 * Listings of a side folder on a file system that may list late, that is, show the folder as it was
 * at an earlier moment. If a listing shows a file, it is of a moment after that file was written.
 */
private[commit] object FolderListing {

  /** How often the folder is listed until the file is shown. */
  private val Attempts = 10

  private val PauseMillis = 100L

  /**
   * A listing of the side folder that is not older than the file. Empty when the file is gone.
   *
   * @throws java.io.IOException when no listing shows it though it is there
   */
  def showing(folder: TableFolder, file: Path, sleep: Long => Unit): Seq[FileMeta] = {
    @tailrec def attempt(left: Int): Seq[FileMeta] = {
      val found = folder.ops.list(folder.side)
      if (found.exists(_.name == file.getName)) found
      else if (!folder.ops.exists(file)) Nil
      else if (left <= 1)
        throw new IOException(s"the file system lists late: ${folder.side} does not show ${file.getName}")
      else {
        sleep(PauseMillis)
        attempt(left - 1)
      }
    }
    attempt(Attempts)
  }
}
