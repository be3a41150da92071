package org.sparkzorder.commit.storage

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{FileMeta, FileOps}

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
