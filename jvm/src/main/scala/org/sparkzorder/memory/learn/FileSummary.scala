package org.sparkzorder.memory.learn

import java.util.BitSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}

/** Puts the outcomes for parts of files together to outcomes for files. A file of two partitions counts as two. */
private[learn] object FileSummary {

  /** Bytes of a file that were read, and whether a row passed in them. */
  private final class Sum(val file: PartitionedFile) {
    var bytes = 0L
    var hasRow = false
    var parts = Set.empty[Long]
  }

  /**
   * One part of each file that was read to its end and has no row.
   *
   * @param outcomes for each partition that was read to its end, a bit for each part with a row
   */
  def of(partitions: Array[FilePartition], outcomes: Map[Int, BitSet]): Seq[PartitionedFile] = {
    val sums = new java.util.LinkedHashMap[(String, InternalRow), Sum]
    for {
      partition <- partitions
      rows <- outcomes.get(partition.index)
      i <- partition.files.indices
    } {
      val part = partition.files(i)
      val sum = sums.computeIfAbsent((part.urlEncodedPath, part.partitionValues), _ => new Sum(part))
      if (!sum.parts(part.start)) {
        sum.parts += part.start
        sum.bytes += part.length
      }
      sum.hasRow ||= rows.get(i)
    }
    val files = Seq.newBuilder[PartitionedFile]
    sums.values.forEach(s => if (!s.hasRow && s.bytes == s.file.fileSize) files += s.file)
    files.result()
  }
}
