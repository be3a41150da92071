package org.sparkzorder.memory.learn

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{ExecutorService, Executors}
import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.compat._
import org.sparkzorder.indexing.PastTime
import org.sparkzorder.memory.{FilterKey, FilterMemory, MemorySize, ReadFile, RememberedFiles, TableNames}

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

  /** The files that are known to hold no row of a filter, as long as its settings are in force. */
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

/**
 * What one scan may teach.
 *
 * @param partitions of the scan, as its tasks read them
 * @param schema of the partitions' values
 * @param began milliseconds since 1970, before the first file was read
 * @param changed those of some files that are not any more as they were listed
 */
private[learn] final class PendingScan(
    val filter: FilterKey,
    outcomes: FileOutcomes,
    partitions: Array[FilePartition],
    schema: StructType,
    began: Long,
    changed: Seq[PartitionedFile] => Set[Path]
) {
  private var absorbed = 0

  /** A part of a file takes as much memory as so many characters of a filter. */
  private final val CharactersOfPart = 100L
  private final val BetweenLooks = 2L * 1000 * 1000 * 1000
  private var lastLook = 0L

  /** Whether nothing is left to learn from it. */
  def isOver: Boolean = synchronized(absorbed == partitions.length)

  /** Parts of files that the scan reads, and as many more as the filter takes memory. */
  val size: Long = partitions.iterator.map(_.files.length.toLong).sum + filter.weight / CharactersOfPart

  /** Puts the files without a row that passes the filter into a memory, if more is known than at the last call. */
  def absorb(memory: FilterMemory): Unit = synchronized {
    val known = outcomes.value
    // Of a long scan, queries that come meanwhile do not each learn the little that is new.
    val now = System.nanoTime()
    def isDue = known.size == partitions.length || absorbed == 0 || now - lastLook > BetweenLooks
    if (known.size > absorbed && isDue) {
      absorbed = known.size
      lastLook = now
      val without = FileSummary.of(partitions, known).filter(isPast)
      // A listing may be older than a file that was read, and that file may go again.
      val inStores = without.filter(PlannedFile.isInStore)
      val others = if (inStores.isEmpty) Set.empty[Path] else changed(inStores)
      val files = without.filterNot(f => others(f.toPath)).map(f => read(f))
      memory.remember(filter, files)
    }
  }

  /** Files without a row that passes, if all of the scan was read. */
  def filesWithoutRows: Option[Long] = {
    val known = outcomes.value
    Option.when(known.size == partitions.length)(FileSummary.of(partitions, known).length.toLong)
  }

  def whenOver(work: () => Unit): Unit = outcomes.whenMerged = known => if (known == partitions.length) work()

  /**
   * Whether no later write can get the file's time stamp. The clock of another machine may differ from ours, so a file
   * there must be a minute old.
   */
  private def isPast(file: PartitionedFile): Boolean = {
    val time = file.modificationTime
    val slack = if (file.toPath.toUri.getScheme == "file") PastTime.granularity(time) else OtherClock
    time + slack < began
  }

  private final val OtherClock = 60000L

  private val texts = mutable.HashMap.empty[AnyRef, String]

  private def read(file: PartitionedFile): ReadFile = {
    val values = texts.getOrElseUpdate(file.partitionValues, RememberedFiles.valuesOf(file.partitionValues, schema))
    ReadFile(file.toPath, file.fileSize, file.modificationTime, values)
  }
}
