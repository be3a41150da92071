package org.sparkzorder.commit.side

import java.io.IOException

import org.slf4j.LoggerFactory

import org.sparkzorder.commit.{FileMeta, SideListing, SideNames, TableFolder}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.storage.AtomicFile

/** Writes and removes the files of statistics. The package `index` knows what is in them. */
object IndexFiles {

  /** The newest and the one before it, which counts if the newest is unreadable. */
  private val Kept = 2

  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /**
   * Writes a new index file, complete before it has its name. It is the table's newest from then on. Needs the lock.
   *
   * @param mode the most rights that it may have: only users who may read the data may read its statistics
   */
  def write(folder: TableFolder, lock: Lock, bytes: Array[Byte], mode: Int = 0xfff): Unit = {
    val ops = folder.ops
    val next = SideListing.indexes(lock.listing()).map(_.number).find(_ < SideNames.MaxVersion).fold(0L)(identity) + 1
    val target = folder.index(next)
    AtomicFile.put(ops, folder.newTemporary(), target, bytes, Some(mode))(lock.check())
  }

  /**
   * Removes all but the newest two. Needs the lock.
   *
   * @param statuses a listing of the side folder under the lock
   */
  private[commit] def prune(folder: TableFolder, statuses: Seq[FileMeta]): Unit =
    SideListing.indexes(statuses).drop(Kept).foreach(i => folder.ops.delete(i.meta.path))

  /** Removes all but the newest, because the older ones still have columns that are excluded now. Needs the lock. */
  def forget(folder: TableFolder, lock: Lock): Unit = {
    lock.check()
    SideListing.indexes(lock.listing()).drop(1).foreach(i => folder.ops.delete(i.meta.path))
  }

  /**
   * Removes all, the newest last, so that no older one counts meanwhile. The recorded queries go
   * first, because they can be read only with the statistics. Needs the lock.
   */
  def drop(folder: TableFolder, lock: Lock): Unit = {
    lock.check()
    // If this fails, the statistics go nevertheless: without them the recorded queries reveal no value.
    try WorkloadFiles.clear(folder)
    catch {
      case e: IOException => log.warn(s"What queries asked for in ${folder.root} could not be deleted: ${e.getMessage}")
    }
    SideListing.indexes(lock.listing()).reverse.foreach(i => folder.ops.delete(i.meta.path))
  }
}
