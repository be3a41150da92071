package org.sparkzorder.optimize.check

import java.nio.file.{Files, Paths}

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.AccessControlException

import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.PlainTable

/** Checks that a second copy of the files fits beside the first, if the file system tells how much space is left. */
private[sparkzorder] object FreeSpace {

  /**
   * How many bytes will be written to a disk or under a quota, and how many it has left.
   *
   * @param where the disk or the quota, in words
   */
  final case class NeededSpace(where: String, needed: Long, available: Long) {
    def isEnough: Boolean = needed <= available
  }

  /** @param inputs for each folder the bytes of the files to rewrite; the new files take about as much */
  def refuse(table: PlainTable, inputs: Seq[(Path, Long)]): Unit =
    of(table.fileSystem, table.root, inputs).find(!_.isEnough).foreach { room =>
      throw ZOrderErrors.notEnoughSpace(table.name, room.needed, room.available, room.where)
    }

  /** Empty if the file system does not know, as with object stores. */
  def of(fs: FileSystem, root: Path, inputs: Seq[(Path, Long)]): Seq[NeededSpace] =
    if (root.toUri.getScheme == "file") onDisks(inputs) else shared(fs, root, inputs.map(_._2).sum)

  /** Each partition may be on another disk. */
  private def onDisks(inputs: Seq[(Path, Long)]): Seq[NeededSpace] =
    inputs.groupMapReduce(_._1)(_._2)(_ + _).toSeq.sortBy(_._1.toString)
      .map { case (folder, bytes) => (folder, Files.getFileStore(Paths.get(folder.toUri.getPath)), bytes) }
      .groupBy(_._2).toSeq
      .collect {
        case (disk, all) if disk.getTotalSpace > 0 =>
          NeededSpace(s"the disk of ${all.head._1.toUri.getPath}", all.map(_._3).sum, disk.getUsableSpace)
      }

  /** Free space and quotas count every replica of a block, so they are divided by the number of replicas. */
  private def shared(fs: FileSystem, root: Path, bytes: Long): Seq[NeededSpace] = {
    val copies = math.max(1L, fs.getDefaultReplication(root).toLong)
    def room(where: String, left: Long) = NeededSpace(where, bytes, math.max(0L, left) / copies)
    val status = fs.getStatus(root)
    val whole = Option.when(status.getCapacity > 0)(room(s"the file system of $root", status.getRemaining))
    // Other file systems would have to count all files below the folder, which takes long.
    val knowsQuotas = Set("hdfs", "webhdfs", "swebhdfs")(root.toUri.getScheme)
    val folders = if (knowsQuotas) Iterator.iterate(root)(_.getParent).takeWhile(_ != null).toVector else Nil
    whole.toSeq ++ folders.flatMap { folder =>
      try {
        val usage = fs.getQuotaUsage(folder)
        Option.when(usage.getSpaceQuota > 0) {
          room(s"the quota of $folder", usage.getSpaceQuota - usage.getSpaceConsumed)
        }
      } catch {
        // We may not ask about this folder. If its quota is used up, the write itself will fail.
        case _: AccessControlException => None
      }
    }
  }
}
