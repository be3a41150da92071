package org.sparkzorder.write.check

import org.apache.spark.util.AccumulatorV2

import org.sparkzorder.compat._

/**
 * The rows that the tasks before the shuffle have read: for each of their partitions, the rows of
 * each input file.
 *
 * A task may run again after its result was lost, or twice at the same time. So the last result of
 * a partition replaces earlier ones, and nothing is counted twice. A task adds its result once,
 * after its last row; Spark drops the results of failed tasks.
 *
 * @param onRows called on the driver with the number of rows that a task has added
 */
private[write] final class ReadRows(
    @volatile private var ofPartition: Map[Int, Map[Int, RowSum]],
    @transient private val onRows: Long => Unit
) extends AccumulatorV2[(Int, Map[Int, RowSum]), Map[Int, Map[Int, RowSum]]] {

  def this(onRows: Long => Unit = _ => ()) = this(Map.empty, onRows)

  override def isZero: Boolean = ofPartition.isEmpty
  override def copy(): ReadRows = new ReadRows(ofPartition, _ => ())
  override def reset(): Unit = ofPartition = Map.empty
  override def value: Map[Int, Map[Int, RowSum]] = ofPartition

  override def add(result: (Int, Map[Int, RowSum])): Unit = synchronized {
    ofPartition += result
  }

  override def merge(other: AccumulatorV2[(Int, Map[Int, RowSum]), Map[Int, Map[Int, RowSum]]]): Unit = synchronized {
    val before = rowsOf(other.value.keySet)
    ofPartition ++= other.value
    onRows(rowsOf(other.value.keySet) - before)
  }

  private def rowsOf(partitions: Set[Int]): Long =
    partitions.iterator.flatMap(ofPartition.get).flatMap(_.values).map(_.rows).sum

  /** The rows of each input file, by its ordinal. */
  def ofFiles: Map[Int, RowSum] =
    ofPartition.values.toVector.flatten.groupMapReduce(_._1)(_._2)(_ + _)
}
