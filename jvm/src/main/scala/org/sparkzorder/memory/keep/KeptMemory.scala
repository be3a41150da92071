package org.sparkzorder.memory.keep

import java.security.PrivilegedExceptionAction
import java.util.UUID
import java.util.concurrent.{Executors, RejectedExecutionException, ScheduledExecutorService, TimeUnit}
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.hadoop.util.ShutdownHookManager
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.commit.side.{MemoryFiles, ProcessFile}
import org.sparkzorder.compat.Threads
import org.sparkzorder.memory.{FilterMemory, KeptFilters}

/**
 * Keeps what filters found in the side folders of tables, so that the next process has it. A thread writes one file for
 * each table, some seconds after something was learned, and when the process ends.
 *
 * @param memory of this process
 */
private[memory] final class KeptMemory(memory: FilterMemory) extends Logging {
  import KeptMemory._

  /** What this process has read and written of one table. */
  private final class Own {
    val id: String = UUID.randomUUID().toString
    @volatile var file = Option.empty[ProcessFile]
    @volatile var read = Set.empty[(String, Long)]
    @volatile var lastRead = Option.empty[Long]
    @volatile var changed = Option.empty[KeptTable]
    @volatile var failures = 0
  }

  private val tables = mutable.LinkedHashMap.empty[Path, Own]
  private var isScheduled = false

  /** Is held while files are written, and the lock of this object is not. */
  private val writing = new Object
  private val failed = new AtomicLong

  /** How often a file could not be read or written since this process began. */
  def failures: Long = failed.get

  private lazy val thread: ScheduledExecutorService = {
    // Hadoop closes the file systems in a hook of lower priority, so after this one.
    ShutdownHookManager.get.addShutdownHook(() => flush(), 50, 5, TimeUnit.SECONDS)
    Executors.newSingleThreadScheduledExecutor { (work: Runnable) =>
      val made = Threads.separate(work, "zorder-kept-memory")
      made.setContextClassLoader(getClass.getClassLoader)
      made.setDaemon(true)
      made
    }
  }

  /** Takes over what other processes have written, if the last look is a while ago. No query waits for one of another. */
  def load(table: KeptTable): Unit = {
    val due = synchronized {
      val own = ownOf(table.folder)
      val now = System.nanoTime()
      val isDue = own.lastRead.forall(now - _ > BetweenLooks)
      if (isDue) own.lastRead = Some(now)
      if (isDue) Some(own) else None
    }
    due.foreach { own =>
      guarded(table.folder) {
        val others = MemoryFiles.list(table.folder).filter(_.id != own.id).takeRight(MemoryFiles.MaxFiles)
        others.filterNot(f => own.read((f.id, f.number))).foreach { f =>
          val found = MemoryFiles.read(table.folder, f.meta.path)(KeptJson.read(table.folder)).toSeq.flatten
          adopt(table, found, isTaken = false)
        }
        own.read = others.map(f => (f.id, f.number)).toSet
      }
    }
  }

  /** Something was learned about a table. Never waits and never fails. */
  def changed(table: KeptTable): Unit = synchronized {
    ownOf(table.folder).changed = Some(table)
    if (!isScheduled)
      try {
        isScheduled = true
        thread.schedule((() => flush()): Runnable, DelaySeconds, TimeUnit.SECONDS)
        ()
      } catch {
        // The process is ending, so it accepts no more hooks or tasks.
        case _: IllegalStateException | _: RejectedExecutionException => ()
      }
  }

  /** Writes what was learned since the last time. */
  def flush(): Unit = writing.synchronized {
    val due = synchronized {
      isScheduled = false
      tables.iterator.filter(_._2.changed.isEmpty).map(_._1).take(tables.size - MaxTables).toVector.foreach(tables -= _)
      for ((_, own) <- tables.toVector; table <- own.changed) yield {
        own.changed = None
        own -> table
      }
    }
    for ((own, table) <- due if own.failures < MaxFailures) {
      own.failures += 1
      guarded(table.folder) {
        table.user.doAs((() => save(own, table)): PrivilegedExceptionAction[Unit])
        own.failures = 0
      }
    }
  }

  private def adopt(table: KeptTable, found: Seq[KeptFilters], isTaken: Boolean): Unit = found.foreach { list =>
    memory.adopt(table.name, list.copy(filters = list.filters.filter(_.columns.forall(table.mayKeep))), isTaken)
  }

  private def save(own: Own, table: KeptTable): Unit = {
    val folder = table.folder
    own.file = own.file.filter(f => folder.ops.exists(f.meta.path))
    if (own.file.isEmpty) MemoryFiles.takeOldest(folder)(KeptJson.read(folder)).foreach(adopt(table, _, isTaken = true))
    val known = present(folder, memory.kept(table.name, table.mayKeep))
    if (known.nonEmpty) {
      own.file = MemoryFiles.write(folder, own.id, own.file, KeptJson.write(folder, known, MemoryFiles.MaxBytes))
      own.file.foreach(f => MemoryFiles.prune(folder, f.meta.modificationTime))
    }
  }

  /** Without files that are gone or were changed, as far as a few listings tell. */
  private def present(folder: TableFolder, found: Seq[KeptFilters]): Seq[KeptFilters] = {
    val parents = found.iterator.flatMap(_.files.valuesIterator).map(_.path.getParent).toSet
    if (parents.size > MostListings) found
    else {
      val there = parents.iterator.flatMap(folder.ops.list).map(m => (m.path, m.length, m.modificationTime)).toSet
      found.map(f => f.copy(files = f.files.filter { case (_, r) => there((r.path, r.length, r.time)) }))
        .filter(_.files.nonEmpty)
    }
  }

  /** Deletes what is kept about a table, by any process. */
  def forget(folder: TableFolder): Unit = writing.synchronized {
    synchronized(tables -= folder.root)
    MemoryFiles.clear(folder)
  }

  private def ownOf(folder: TableFolder): Own = synchronized(tables.getOrElseUpdate(folder.root, new Own))

  /** No query may fail by it. So every failure is counted, and the first ones are logged. */
  private def guarded(folder: TableFolder)(work: => Unit): Unit =
    try work
    catch {
      case NonFatal(e) =>
        if (failed.incrementAndGet() <= MaxWarnings) logWarning(s"What filters found in ${folder.root} is not kept", e)
    }
}

private object KeptMemory {
  private val DelaySeconds = 5L
  private val BetweenLooks = TimeUnit.SECONDS.toNanos(60)
  private val MaxTables = 256
  private val MostListings = 100

  private val MaxWarnings = 100

  /** After so many failures in a row nothing more is kept for a table. */
  private val MaxFailures = 3
}
