package org.sparkzorder.commit.storage

import java.io.IOException

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.TableFolder

/** The file system's clock, which may differ from ours. */
object Clock {
  private val WaitLimit = 60000L

  /** The time stamp of a file just written, milliseconds since 1970. The side folder must be there. */
  def now(folder: TableFolder): Long = now(folder, folder.newProbe())

  private def now(folder: TableFolder, probe: Path): Long =
    try {
      folder.ops.writeNew(probe, Array.emptyByteArray)
      folder.ops.status(probe).getOrElse(throw new IOException(s"$probe vanished")).modificationTime
    } finally folder.ops.delete(probe)

  /**
   * The time under the lock. The file has a temporary name, which a recovery removes at once. If it
   * cannot be written, our own clock must do.
   */
  def nowUnderLock(folder: TableFolder): Long =
    try now(folder, folder.newTemporary())
    catch { case _: IOException => System.currentTimeMillis() }

  /** How far apart two time stamps must be to differ: 1 ms, or 2 s if all these stamps are whole seconds. */
  def granularity(stamps: Iterable[Long]): Long = if (stamps.forall(_ % 1000 == 0)) 2000L else 1L

  /**
   * Waits until no file written from now on can get one of these time stamps. Needs the lock.
   *
   * @param times modification times, milliseconds since 1970
   * @throws java.io.IOException at once, when the wait would be longer than a minute
   */
  def waitPast(folder: TableFolder, times: Iterable[Long], sleep: Long => Unit = Thread.sleep(_)): Unit =
    if (times.nonEmpty) {
      val last = times.max
      // A recovery removes files of temporary names at once, but probes only when they are old.
      def look(): Long = now(folder, folder.newTemporary())
      var seen = look()
      var waited = 0L
      while (seen < last + granularity(times ++ Seq(seen))) {
        if (math.max(waited, last - seen) > WaitLimit)
          throw new IOException(
            s"files that come back to ${folder.root} are stamped ${last - seen} ms in the future: run RESTORE after that " +
              "time, or set the clock right"
          )
        val step = math.max(2L, math.min(500L, last + granularity(times) - seen))
        sleep(step)
        waited += step
        seen = look()
      }
    }
}
