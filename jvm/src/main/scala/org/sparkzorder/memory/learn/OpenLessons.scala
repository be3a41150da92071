package org.sparkzorder.memory.learn

import java.util.concurrent.{ExecutorService, Executors}

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.compat.Threads
import org.sparkzorder.memory.{Filter, FilterMemory, MemorySize, RememberedFiles, TableNames}

/**
 * The memory of this process, and the scans that it still learns from. A scan that was read to its end is learned by a
 * thread, so that it is not kept. A query that comes before the thread learns what it needs by itself.
 */
private[sparkzorder] object OpenLessons extends Logging {

  /** Parts of files of all scans that did not end, such as those below a LIMIT. */
  private val MostParts = 100000

  private val memory = FilterMemory.ofHeap(Runtime.getRuntime.maxMemory)
  private var open = Vector.empty[Lesson]
  private val lock = new Object

  private lazy val thread: ExecutorService = Executors.newSingleThreadExecutor { (work: Runnable) =>
    val made = Threads.separate(work, "zorder-memory")
    made.setContextClassLoader(getClass.getClassLoader)
    made.setDaemon(true)
    made
  }

  private[learn] def add(lesson: Lesson): Unit = {
    lesson.whenOver(() => thread.execute(() => guarded(absorbAll(_ eq lesson))))
    lock.synchronized {
      open = open :+ lesson
      while (open.size > 1 && open.iterator.map(_.size.toLong).sum > MostParts) open = open.tail
    }
  }

  /** Whether something may be known about the files of a table. */
  def knows(table: String): Boolean = memory.knows(table) || lock.synchronized(open.exists(_.filter.table == table))

  /**
   * The files that are known to hold no row of a filter.
   *
   * @param now whether the filter's settings are in force
   */
  def filesWithout(filter: Filter, now: () => Boolean): Option[RememberedFiles] = {
    absorbAll(_.filter.table == filter.table)
    memory.filesWithout(filter, now)
  }

  /** Forgets what is known about the files of a folder, and learns no more from scans that are running. */
  def forget(root: Path): Unit = {
    lock.synchronized { open = open.filterNot(l => TableNames.isAt(l.filter.table, root)) }
    memory.forget(TableNames.isAt(_, root))
  }

  /** What is known about the files of a folder. */
  def sizeOf(root: Path): MemorySize = {
    absorbAll(l => TableNames.isAt(l.filter.table, root))
    memory.sizeOf(TableNames.isAt(_, root))
  }

  private def absorbAll(which: Lesson => Boolean): Unit = {
    val now = lock.synchronized(open.filter(which))
    now.foreach(_.absorb(memory))
    if (now.exists(_.isOver)) lock.synchronized { open = open.filterNot(_.isOver) }
  }

  private def guarded(work: => Unit): Unit =
    try work
    catch { case NonFatal(e) => logWarning("A filter is not remembered", e) }
}
