package org.sparkzorder.commit.storage

import java.io.IOException

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{FileMeta, TableFolder}

/**
 * Listings of a side folder on a file system that may list late, that is, show the folder as it was
 * at an earlier moment. If a listing shows a file, it is of a moment after that file was written.
 */
private[commit] object Listing {

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
