package org.sparkzorder.memory.learn

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.FilePartition

import org.sparkzorder.memory.ReaderSettings

/**
 * The input of a scan with a [[FileTally]] around each partition.
 *
 * @param settings of the plan, see [[ReaderSettings.ofTask]]. A task that has others reports nothing
 * @param isFiltered whether each row of the input has passed the filter; else a caller tells
 */
private[learn] final class TalliedRDD(
    scan: RDD[InternalRow],
    outcomes: FileOutcomes,
    settings: String,
    isFiltered: Boolean
) extends RDD[InternalRow](scan) {

  override protected def getPartitions: Array[Partition] = scan.partitions

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    split match {
      case partition: FilePartition if settings == ReaderSettings.ofTask =>
        val tally =
          new FileTally(partition, PlannedFile.look, rows => outcomes.add((partition.index, rows)))
        // The input holds batches as well, if generated code reads it. So its elements are not touched here.
        tally.of(scan.iterator(tally.toRead, context).asInstanceOf[Iterator[AnyRef]])
        if (isFiltered) {
          tally.listen()
          new Filtered(tally)
        } else tally.asInstanceOf[Iterator[InternalRow]]
      case _ => scan.iterator(split, context)
    }
  }

  private final class Filtered(tally: FileTally) extends Iterator[InternalRow] {
    override def hasNext: Boolean = tally.hasNext
    override def next(): InternalRow = {
      val row = tally.next()
      tally.passed()
      row.asInstanceOf[InternalRow]
    }
  }
}
