package org.sparkzorder.indexing

import org.apache.hadoop.fs.FileStatus

/**
 * Waits until no later write can get a file's time stamp. Only then do path, length and modification time identify the
 * content that is read afterwards. (Git calls an entry younger than that 'racily clean'.)
 *
 * @param clock milliseconds since 1970, comparable with the file system's time stamps
 * @param sleep waits for a number of milliseconds
 */
private[sparkzorder] final class PastTime(clock: () => Long, sleep: Long => Unit) {
  import PastTime._

  /** For each file, whether its time stamp is past. It does not wait long for those from the future. */
  def wait(files: Seq[FileStatus]): Seq[Boolean] = {
    val due = files.map(f => f.getModificationTime + granularity(f.getModificationTime))
    val start = clock()
    val worthWaiting = due.filter(_ <= start + Longest)
    if (worthWaiting.nonEmpty && worthWaiting.max >= start) sleepUntil(worthWaiting.max)
    val now = clock()
    due.map(_ < now)
  }

  private def sleepUntil(time: Long): Unit = {
    var now = clock()
    while (now <= time) {
      sleep(time - now + 1)
      now = clock()
    }
  }
}

private[sparkzorder] object PastTime {

  /** Whole seconds may be of a store without finer stamps. Otherwise the kernel's clock tick, up to 10 ms, decides. */
  def granularity(stamp: Long): Long = if (stamp % 1000 == 0) 2000L else 20L

  private val Longest = 4000L

  def system: PastTime = new PastTime(() => System.currentTimeMillis(), Thread.sleep(_))
}
