package org.sparkzorder.memory.learn

import java.util.BitSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.apache.spark.util.AccumulatorV2

/**
 * What tasks found out about the parts of files: for each partition of a scan that was read to its end, the parts in
 * which a row passed the filter. Spark adds up what tasks that succeeded report, some of them twice. Of two reports of
 * one partition, each row counts.
 */
private[learn] final class FileOutcomes extends AccumulatorV2[(Int, BitSet), Map[Int, BitSet]] {
  private var found = Map.empty[Int, BitSet]

  /** On the driver: is told after each task how many partitions are known. */
  @transient @volatile private[learn] var whenMerged: Int => Unit = _

  override def isZero: Boolean = synchronized(found.isEmpty)

  override def copy(): FileOutcomes = {
    val other = new FileOutcomes
    other.found = value
    other
  }

  override def reset(): Unit = synchronized { found = Map.empty }

  /** The bits are not changed afterwards. */
  override def add(outcome: (Int, BitSet)): Unit = synchronized {
    val (partition, rows) = outcome
    found = found.updated(partition, found.get(partition).fold(rows)(both(_, rows)))
  }

  override def merge(other: AccumulatorV2[(Int, BitSet), Map[Int, BitSet]]): Unit = {
    other.value.foreach(add)
    Option(whenMerged).foreach(_(value.size))
  }

  override def value: Map[Int, BitSet] = synchronized(found)

  private def both(a: BitSet, b: BitSet): BitSet = {
    val sum = a.clone().asInstanceOf[BitSet]
    sum.or(b)
    sum
  }
}

/** Puts the outcomes for parts of files together to outcomes for files. A file of two partitions counts as two. */
private[learn] object FileSummary {

  /** Bytes of a file that were read, and whether a row passed in them. */
  private final class Sum(val file: PartitionedFile) {
    var bytes = 0L
    var hasRow = false
    var parts = Set.empty[Long]
  }

  /** One part of each file that was read to its end and has no row; by a bit for each part with a row. */
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
