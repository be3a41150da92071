package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path

/** A file that is complete before it has its name: readers find all of it or nothing. */
private[commit] object AtomicFile {

  /**
   * Writes the file under another name, which is deleted again if anything fails, and renames it.
   *
   * @param temporary a free name on the same file system
   * @param mode rights that it may have, as far as the file system knows rights
   * @param check what has to hold when it gets its name, such as the lock
   */
  def put(ops: FileOps, temporary: Path, target: Path, bytes: Array[Byte], mode: Option[Int] = None)(
      check: => Unit
  ): Unit =
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
}
