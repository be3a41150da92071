package org.sparkzorder.memory.learn

import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.compat._
import org.sparkzorder.indexing.PastTime
import org.sparkzorder.memory.{FilterKey, FilterMemory, ReadFile, RememberedFiles}

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
  private var lastLook = 0L

  /** Whether nothing is left to learn from it. */
  def isOver: Boolean = synchronized(absorbed == partitions.length)

  /** Parts of files that the scan reads, and as many more as the filter takes memory. */
  val size: Long = partitions.iterator.map(_.files.length.toLong).sum + filter.weight / PendingScan.CharactersOfPart

  /** Puts the files without a row that passes the filter into a memory, if more is known than at the last call. */
  def absorb(memory: FilterMemory): Unit = synchronized {
    val known = outcomes.value
    // Of a long scan, queries that come meanwhile do not each learn the little that is new.
    val now = System.nanoTime()
    def isDue = known.size == partitions.length || absorbed == 0 || now - lastLook > PendingScan.BetweenLooks
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

  /** Calls `work` once all of the scan is read. */
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

  private val OtherClock = 60000L

  private val texts = mutable.HashMap.empty[AnyRef, String]

  private def read(file: PartitionedFile): ReadFile = {
    val values = texts.getOrElseUpdate(file.partitionValues, RememberedFiles.valuesOf(file.partitionValues, schema))
    ReadFile(file.toPath, file.fileSize, file.modificationTime, values)
  }
}

private object PendingScan {

  /** A part of a file takes as much memory as so many characters of a filter. */
  private val CharactersOfPart = 100L

  private val BetweenLooks = 2L * 1000 * 1000 * 1000
}
