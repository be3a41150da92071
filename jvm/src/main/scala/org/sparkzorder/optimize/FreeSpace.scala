package org.sparkzorder.optimize

import java.nio.file.{Files, Paths}

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.AccessControlException

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.PlainTable

/** Whether a second copy of the files fits beside the first, as far as the file system tells. */
private[sparkzorder] object FreeSpace {

  /**
   * What is to be written to one disk, and what it has left, in bytes.
   *
   * @param where the disk or the quota, in words
   */
  final case class Room(where: String, needed: Long, available: Long) {
    def isEnough: Boolean = needed <= available
  }

  /** @param inputs bytes that are rewritten by the folder that they are in: their copies take about as much */
  def refuse(table: PlainTable, inputs: Seq[(Path, Long)]): Unit =
    of(table.fileSystem, table.root, inputs).find(!_.isEnough).foreach { room =>
      throw ZOrderErrors.notEnoughSpace(table.name, room.needed, room.available, room.where)
    }

  /** Nothing where the file system does not know, as in object stores. */
  def of(fs: FileSystem, root: Path, inputs: Seq[(Path, Long)]): Seq[Room] =
    if (root.toUri.getScheme == "file") onDisks(inputs) else shared(fs, root, inputs.map(_._2).sum)

  /** A partition may be on a disk of its own. */
  private def onDisks(inputs: Seq[(Path, Long)]): Seq[Room] =
    inputs.groupMapReduce(_._1)(_._2)(_ + _).toSeq.sortBy(_._1.toString)
      .map { case (folder, bytes) => (folder, Files.getFileStore(Paths.get(folder.toUri.getPath)), bytes) }
      .groupBy(_._2).toSeq
      .collect {
        case (disk, all) if disk.getTotalSpace > 0 =>
          Room(s"the disk of ${all.head._1.toUri.getPath}", all.map(_._3).sum, disk.getUsableSpace)
      }

  /** Space and quotas count every copy of a block. */
  private def shared(fs: FileSystem, root: Path, bytes: Long): Seq[Room] = {
    val copies = math.max(1L, fs.getDefaultReplication(root).toLong)
    def room(where: String, left: Long) = Room(where, bytes, math.max(0L, left) / copies)
    val status = fs.getStatus(root)
    val whole = Option.when(status.getCapacity > 0)(room(s"the file system of $root", status.getRemaining))
    // Other file systems would count all files below the folder to tell.
    val knowsQuotas = Set("hdfs", "webhdfs", "swebhdfs")(root.toUri.getScheme)
    val folders = if (knowsQuotas) Iterator.iterate(root)(_.getParent).takeWhile(_ != null).toSeq else Nil
    whole.toSeq ++ folders.flatMap { folder =>
      try {
        val usage = fs.getQuotaUsage(folder)
        Option.when(usage.getSpaceQuota > 0) {
          room(s"the quota of $folder", usage.getSpaceQuota - usage.getSpaceConsumed)
        }
      } catch {
        // A folder above that we may not ask about. If its quota is used up, the write fails as before.
        case _: AccessControlException => None
      }
    }
  }
}
