package org.sparkzorder.memory.learn

import java.util.concurrent.{ExecutorService, Executors}
import java.util.concurrent.atomic.AtomicLong

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.compat.Threads
import org.sparkzorder.memory.{FilterKey, FilterMemory, MemorySize, RememberedFiles, TableNames}

/**
 * The memory of this process, and the scans that it still learns from. A scan that was read to its end is learned by a
 * thread, so that it is not kept. A query that comes before the thread learns what it needs by itself.
 */
private[sparkzorder] object PendingScans extends Logging {

  /** Parts of files of all scans that did not end, such as those below a LIMIT, and the number of these scans. */
  private val MostParts = 100000L
  private val MostScans = 1000

  private val memory = FilterMemory.ofHeap(Runtime.getRuntime.maxMemory)
  private var open = Vector.empty[PendingScan]
  private val lock = new Object

  private lazy val thread: ExecutorService = Executors.newSingleThreadExecutor { (work: Runnable) =>
    val made = Threads.separate(work, "zorder-memory")
    made.setContextClassLoader(getClass.getClassLoader)
    made.setDaemon(true)
    made
  }

  private[learn] def add(scan: PendingScan): Unit = {
    scan.whenOver(() => thread.execute(() => counted(scan)(absorbAll(_ eq scan))))
    lock.synchronized {
      open = open :+ scan
      open = open.takeRight(MostScans)
      while (open.size > 1 && open.iterator.map(_.size).sum > MostParts) open = open.tail
    }
  }

  /** Whether something may be known about the files of a table. */
  def knows(table: String): Boolean = memory.knows(table) || lock.synchronized(open.exists(_.filter.table == table))

  /**
   * The files that are known to hold no row of a filter.
   *
   * @param now whether the filter's settings are in force
   */
  def filesWithout(filter: FilterKey, now: () => Boolean): Option[RememberedFiles] = {
    absorbAll(_.filter.table == filter.table)
    memory.filesWithout(filter, now)
  }

  /** Forgets what is known about the files of a folder, and learns no more from scans that are running. */
  def forget(root: Path): Unit = {
    lock.synchronized { open = open.filterNot(l => TableNames.isAt(l.filter.table, root)) }
    memory.forget(TableNames.isAt(_, root))
  }

  /**
   * Forgets files that are replaced. Never fails, since they are replaced already.
   *
   * @return filters that had found no row in some of them
   */
  def forgetFiles(root: Path, paths: Iterable[Path]): Int =
    try {
      absorbAll(l => TableNames.isAt(l.filter.table, root))
      memory.forgetFiles(TableNames.isAt(_, root), paths)
    } catch {
      case NonFatal(e) =>
        failed.incrementAndGet()
        logWarning(s"What filters found in replaced files of $root is not forgotten", e)
        0
    }

  /** What is known about the files of a folder. */
  def sizeOf(root: Path): MemorySize = {
    absorbAll(l => TableNames.isAt(l.filter.table, root))
    memory.sizeOf(TableNames.isAt(_, root))
  }

  private def absorbAll(which: PendingScan => Boolean): Unit = {
    val now = lock.synchronized(open.filter(which))
    now.foreach(_.absorb(memory))
    if (now.exists(_.isOver)) lock.synchronized { open = open.filterNot(_.isOver) }
  }

  /** A bug in the thread must not turn the memory off unnoticed. In a query's own thread the query counts it. */
  private def counted(scan: PendingScan)(work: => Unit): Unit =
    try work
    catch {
      case NonFatal(e) =>
        failed.incrementAndGet()
        logWarning(s"What a filter found in ${scan.filter.table} is not remembered", e)
    }

  private val failed = new AtomicLong

  /** How often this process could not learn from a scan. */
  def failures: Long = failed.get
}
