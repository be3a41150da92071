package org.sparkzorder.workload

import java.io.IOException
import java.security.PrivilegedExceptionAction
import java.util.UUID
import java.util.concurrent.{
  ConcurrentLinkedQueue,
  Executors,
  RejectedExecutionException,
  ScheduledExecutorService,
  TimeUnit
}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicLong}

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.UserGroupInformation
import org.apache.hadoop.util.ShutdownHookManager
import org.slf4j.LoggerFactory

import org.sparkzorder.commit.{TableFolder, WorkloadFile, WorkloadFiles}
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.predicate.{Column, StatsPredicate}

/**
 * A query's look at one table.
 *
 * @param snapshot the statistics that places are told by
 * @param isExcluded columns of which nothing is to be recorded
 * @param user who asks, and in whose name is written
 */
final case class Observation(
    folder: TableFolder,
    snapshot: IndexSnapshot,
    filter: StatsPredicate,
    isExcluded: Seq[String] => Boolean,
    user: UserGroupInformation
)

/**
 * Records what queries of this process ask of tables. A query only puts itself in a queue; a thread of its own makes ranks
 * of its values and writes, some seconds later or at the end of the process, one small file a table.
 */
object WorkloadRecorder {

  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  private val DelaySeconds = 5L
  private val MaxWaiting = 10000
  private val MaxTables = 256

  /** After so many failures in a row a table is left alone. */
  private val MaxFailures = 3

  private val waiting = new ConcurrentLinkedQueue[Observation]
  private val waitingCount = new AtomicInteger
  private val scheduled = new AtomicBoolean
  private val failed = new AtomicLong
  private val left = new AtomicLong

  /** What this process has of one table. */
  private final class Own {
    val id: String = UUID.randomUUID().toString
    var file = Option.empty[WorkloadFile]
    var written: WorkloadSketch = WorkloadSketch.empty
    var pending: WorkloadSketch = WorkloadSketch.empty
    var failures = 0
  }

  // Both are used under the lock of this object only.
  private val tables = mutable.LinkedHashMap.empty[Path, Own]
  private val axes = mutable.WeakHashMap.empty[IndexSnapshot, mutable.HashMap[Column, Option[RankAxis]]]

  private lazy val thread: ScheduledExecutorService = {
    // The file systems are closed in a hook of a lower priority.
    ShutdownHookManager.get.addShutdownHook(() => flush(), 50, 5, TimeUnit.SECONDS)
    Executors.newSingleThreadScheduledExecutor { (work: Runnable) =>
      // It outlives the session whose query comes first, and keeps nothing of it.
      val thread = new Thread(null, work, "zorder-workload", 0, false)
      thread.setContextClassLoader(getClass.getClassLoader)
      thread.setDaemon(true)
      thread
    }
  }

  /** Files that could not be written since this process began. */
  def failures: Long = failed.get

  /** Queries that were left out, as too many came at once. */
  def leftOut: Long = left.get

  /** Takes a query. Never waits, never fails. */
  def observe(observation: Observation): Unit =
    if (waitingCount.get >= MaxWaiting) {
      left.incrementAndGet()
      ()
    } else {
      waitingCount.incrementAndGet()
      waiting.add(observation)
      if (scheduled.compareAndSet(false, true)) {
        try {
          thread.schedule((() => flush()): Runnable, DelaySeconds, TimeUnit.SECONDS)
          ()
        } catch {
          // The process is ending: no hook, or no task, is taken any more.
          case _: IllegalStateException | _: RejectedExecutionException => left.incrementAndGet(); ()
        }
      }
    }

  /** Writes what waits to be written. */
  def flush(): Unit = synchronized {
    scheduled.set(false)
    val folders = mutable.LinkedHashMap.empty[Path, Observation]
    Iterator.continually(waiting.poll()).takeWhile(_ != null).foreach { o =>
      waitingCount.decrementAndGet()
      folders(o.folder.root) = o
      guarded(o.folder)(take(o))
    }
    folders.valuesIterator.foreach(o => guarded(o.folder)(as(o.user)(save(o))))
    while (tables.size > MaxTables) tables -= tables.head._1
  }

  private def take(o: Observation): Unit = {
    val own = ownOf(o)
    if (own.failures < MaxFailures) {
      val known = axes.getOrElseUpdate(o.snapshot, mutable.HashMap.empty)
      val uses = ColumnConstraint.of(o.filter).toSeq.flatMap { case (column, asked) =>
        if (o.isExcluded(column.path)) None
        else {
          val axis = known.getOrElseUpdate(column, ColumnAxes.of(o.snapshot, column))
          axis.flatMap(ColumnConstraint.observed(column.path, asked, _))
        }
      }
      own.pending = own.pending.add(uses)
    }
  }

  private def save(o: Observation): Unit = {
    val own = ownOf(o)
    if (own.failures < MaxFailures && !own.pending.isEmpty) {
      // Another process may have made the file part of its own.
      if (own.file.exists(f => !o.folder.ops.exists(f.meta.path))) {
        own.file = None
        own.written = WorkloadSketch.empty
      }
      if (own.file.isEmpty)
        own.written = WorkloadFiles.takeOldest(o.folder)(SketchJson.read).foldLeft(own.written)(_ ++ _)
      val all = (own.written ++ own.pending).without(o.isExcluded)
      val bytes = SketchJson.write(all)
      own.pending = WorkloadSketch.empty
      own.file = WorkloadFiles.write(o.folder, own.id, own.file, bytes)
      // What was too much for the file is not remembered either.
      own.written = if (own.file.isEmpty) WorkloadSketch.empty else SketchJson.read(bytes)
      own.file.foreach(f => WorkloadFiles.prune(o.folder, f.meta.modificationTime))
      own.failures = 0
    }
  }

  private def as(user: UserGroupInformation)(work: => Unit): Unit =
    user.doAs((() => work): PrivilegedExceptionAction[Unit])

  private def ownOf(o: Observation): Own = tables.getOrElseUpdate(o.folder.root, new Own)

  /** A query's record is worth no query: whatever a file system throws is counted, and told once for a table. */
  private def guarded(folder: TableFolder)(work: => Unit): Unit =
    try work
    catch {
      case NonFatal(e) =>
        val own = tables.getOrElseUpdate(folder.root, new Own)
        own.failures += 1
        own.pending = WorkloadSketch.empty
        failed.incrementAndGet()
        if (own.failures == 1) {
          val why = if (e.isInstanceOf[IOException]) e.getMessage else e.getClass.getSimpleName
          log.warn(s"What queries ask of ${folder.root} is not recorded: $why")
        }
    }
}
