package org.sparkzorder.workload

import java.io.IOException
import java.security.PrivilegedExceptionAction
import java.util.UUID
import java.util.concurrent._
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicLong}

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.UserGroupInformation
import org.apache.hadoop.util.ShutdownHookManager
import org.slf4j.LoggerFactory

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.commit.side.{WorkloadFile, WorkloadFiles}
import org.sparkzorder.compat.Threads
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.layout.JoinSpec
import org.sparkzorder.predicate.{Column, StatsPredicate}

/**
 * One query's filter on one table.
 *
 * @param snapshot the statistics that ranks of values are computed from
 * @param joined filters of dimensions that the query joins with the table
 * @param isExcluded whether nothing may be recorded about a column
 * @param user the user who runs the query; the record is written as this user
 */
final case class Observation(
    folder: TableFolder,
    snapshot: IndexSnapshot,
    filter: StatsPredicate,
    joined: Seq[JoinedFilter],
    isExcluded: Seq[String] => Boolean,
    user: UserGroupInformation
)

/**
 * Records which values the queries of this process ask tables for. A query only enqueues its translated filter. Another
 * thread turns the values into ranks. It writes one small file for each table, some seconds later or when the process
 * ends.
 */
object WorkloadRecorder {

  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  private val DelaySeconds = 5L
  private val MaxWaiting = 10000
  private val MaxTables = 256

  /** After so many failures in a row nothing more is recorded for a table. */
  private val MaxFailures = 3

  private val waiting = new ConcurrentLinkedQueue[Observation]
  private val waitingCount = new AtomicInteger
  private val scheduled = new AtomicBoolean
  private val failed = new AtomicLong
  private val hasToldOfQuery = new AtomicBoolean
  private val left = new AtomicLong

  private final class Own {
    val id: String = UUID.randomUUID().toString
    var file = Option.empty[WorkloadFile]
    var written: WorkloadSketch = WorkloadSketch.empty
    var pending: WorkloadSketch = WorkloadSketch.empty
    val assumed = new AssumedRanks
    var failures = 0
  }

  // Both are only used while this object is locked.
  private val tables = mutable.LinkedHashMap.empty[Path, Own]
  private val axes = mutable.WeakHashMap.empty[IndexSnapshot, mutable.HashMap[Column, Option[RankAxis]]]

  private lazy val thread: ScheduledExecutorService = {
    // Hadoop closes the file systems in a hook of lower priority, so after this one.
    ShutdownHookManager.get.addShutdownHook(() => flush(), 50, 5, TimeUnit.SECONDS)
    Executors.newSingleThreadScheduledExecutor { (work: Runnable) =>
      // The thread outlives the session whose query is recorded first, so it must not refer to anything of this
      // session.
      val thread = Threads.separate(work, "zorder-workload")
      thread.setContextClassLoader(getClass.getClassLoader)
      thread.setDaemon(true)
      thread
    }
  }

  /** How many files could not be written, and queries not be enqueued, since this process began. */
  def failures: Long = failed.get

  /** How many queries were left out, because too many came at once. */
  def leftOut: Long = left.get

  /** Enqueues a query. It never waits and never fails. */
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
          // The process is ending, so it accepts no more hooks or tasks.
          case _: IllegalStateException | _: RejectedExecutionException => left.incrementAndGet(); ()
        }
      }
    }

  /** Counts a query that could not be enqueued. The first one of this process is logged. */
  def notObserved(tables: Seq[Path], e: Throwable): Unit = {
    failed.incrementAndGet()
    if (hasToldOfQuery.compareAndSet(false, true))
      log.warn(s"A query of ${tables.mkString(", ")} is not recorded: ${e.getClass.getSimpleName}")
  }

  /** Writes the record of all queries that are in the queue. */
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
      val uses = ColumnConstraint.of(o.filter).toSeq.flatMap { case (column, asked) =>
        if (o.isExcluded(column.path)) None
        else axisOf(o.snapshot, column).flatMap(ColumnConstraint.observed(ColumnUse(column.path, _), asked, _))
      }
      val attributes = o.joined.filterNot(j => o.isExcluded(j.join.column) || j.isExcluded(j.join.key))
        .flatMap(attributesOf(_, own.assumed))
      own.pending = own.pending.add(uses ++ attributes)
    }
  }

  private def attributesOf(joined: JoinedFilter, assumed: AssumedRanks): Seq[ObservedUse] =
    ColumnConstraint.of(joined.filter).toSeq.flatMap { case (column, asked) =>
      def use(form: Form) = ColumnUse(joined.join.attribute(column.path), form, Some(joined.join))
      // The dimension's keys are those of the table, which has a filter by them itself.
      if (column.path == joined.join.key || joined.isExcluded(column.path)) None
      else
        joined.statistics match {
          case Some(known) => axisOf(known, column).flatMap(ColumnConstraint.observed(use(_), asked, _))
          case None        => assumed.observed(use(_), asked)
        }
    }

  private def axisOf(statistics: IndexSnapshot, column: Column): Option[RankAxis] =
    axes.getOrElseUpdate(statistics, mutable.HashMap.empty).getOrElseUpdate(column, ColumnAxes.of(statistics, column))

  private def save(o: Observation): Unit = {
    val own = ownOf(o)
    if (own.failures < MaxFailures && !own.pending.isEmpty) {
      // Another process may have merged the file into its own.
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
      // Kinds of queries that found no room in the file are forgotten here too.
      own.written = if (own.file.isEmpty) WorkloadSketch.empty else SketchJson.read(bytes)
      own.file.foreach(f => WorkloadFiles.prune(o.folder, f.meta.modificationTime))
      own.failures = 0
    }
  }

  private def as(user: UserGroupInformation)(work: => Unit): Unit =
    user.doAs((() => work): PrivilegedExceptionAction[Unit])

  private def ownOf(o: Observation): Own = tables.getOrElseUpdate(o.folder.root, new Own)

  /** Recording must never make a query fail. So every failure is counted, and logged once for each table. */
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
          log.warn(s"The workload of ${folder.root} is not recorded: $why")
        }
    }
}

/**
 * The filter of a dimension that a query joins with a table. By its attributes a layout can place the table's rows.
 *
 * @param filter over the dimension's columns
 * @param statistics of the dimension, which rank the values; None if it has no index
 * @param isExcluded whether nothing may be recorded about a column of the dimension
 */
final case class JoinedFilter(
    join: JoinSpec,
    filter: StatsPredicate,
    statistics: Option[IndexSnapshot],
    isExcluded: Seq[String] => Boolean
)
