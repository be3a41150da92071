package org.sparkzorder.memory.learn

import scala.collection.mutable

import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.indexing.PastTime
import org.sparkzorder.memory.{FilterKey, FilterMemory, ReadFile, RememberedFiles}

/**
 * What one scan may teach.
 *
 * @param partitions of the scan, as its tasks read them
 * @param schema of the partitions' values
 * @param began milliseconds since 1970, before the first file was read
 */
private[learn] final class PendingScan(
    val filter: FilterKey,
    outcomes: FileOutcomes,
    partitions: Array[FilePartition],
    schema: StructType,
    began: Long
) {
  private var absorbed = 0

  /** Whether nothing is left to learn from it. */
  def isOver: Boolean = synchronized(absorbed == partitions.length)

  /** Parts of files that the scan reads, and as many more as the filter takes memory. */
  val size: Long = partitions.iterator.map(_.files.length.toLong).sum + filter.weight / PendingScan.CharactersOfPart

  /** Puts the files without a row that passes the filter into a memory, if more is known than at the last call. */
  def absorb(memory: FilterMemory): Unit = synchronized {
    val known = outcomes.value
    if (known.size > absorbed) {
      absorbed = known.size
      memory.remember(filter, FileSummary.of(partitions, known).filter(isPast).map(f => read(f)))
    }
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
}
