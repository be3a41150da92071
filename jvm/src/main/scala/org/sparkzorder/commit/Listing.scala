package org.sparkzorder.commit

import java.io.IOException

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

/**
 * Listings of a side folder on a file system that may list late: as the folder was at an earlier moment. One that shows
 * a file is of a moment after that file was written.
 */
private[commit] object Listing {

  /** How often a listing is asked for that shows the file. */
  private val Attempts = 10

  private val PauseMillis = 100L

  /**
   * The side folder, no earlier than when the file was written. Empty when the file is gone.
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

  /** The side folder as it is now, without the lock. Empty when it is not there. */
  def now(folder: TableFolder, sleep: Long => Unit): Seq[FileMeta] = {
    val probe = folder.newProbe()
    if (!folder.ops.exists(folder.side)) Nil
    else
      try {
        folder.ops.writeNew(probe, Array.emptyByteArray)
        showing(folder, probe, sleep).filter(_.name != probe.getName)
      } finally folder.ops.delete(probe)
  }
}
