package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import org.slf4j.LoggerFactory

/** The files of statistics as files: what is in them is the index's own business. */
object IndexFiles {

  /** The newest may be unreadable, then the one before counts. */
  private val Kept = 2

  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /**
   * Writes a new index file, complete before it has its name. Needs the lock.
   *
   * @param mode rights that it may have: statistics are for who may read the data
   * @return its status, the newest index of the table from now on
   */
  def write(folder: TableFolder, lock: Lock, bytes: Array[Byte], mode: Int = 0xfff): FileMeta = {
    val ops = folder.ops
    val next = SideListing.indexes(lock.listing()).map(_.number).find(_ < SideNames.MaxVersion).fold(0L)(identity) + 1
    val target = folder.index(next)
    AtomicFile.put(ops, folder.newTemporary(), target, bytes, Some(mode))(lock.check())
    ops.status(target).getOrElse(throw new FileNotFoundException(s"$target vanished"))
  }

  /** Removes all but the newest two. Needs the lock. */
  def prune(folder: TableFolder): Unit =
    SideListing.indexes(folder.ops.list(folder.side)).drop(Kept).foreach(i => folder.ops.delete(i.meta.path))

  /** Removes all but the newest: they tell what they should not. Needs the lock. */
  def forget(folder: TableFolder, lock: Lock): Unit = {
    lock.check()
    SideListing.indexes(lock.listing()).drop(1).foreach(i => folder.ops.delete(i.meta.path))
  }

  /**
   * Removes all, the newest last, so that no older one comes to count; and what queries asked for, whose places are told
   * by them. Needs the lock.
   */
  def drop(folder: TableFolder, lock: Lock): Unit = {
    lock.check()
    // Without statistics nobody tells a value by it: it may stay rather than the statistics.
    try WorkloadFiles.clear(folder)
    catch {
      case e: IOException => log.warn(s"What queries asked for in ${folder.root} could not be deleted: ${e.getMessage}")
    }
    SideListing.indexes(lock.listing()).reverse.foreach(i => folder.ops.delete(i.meta.path))
  }
}
