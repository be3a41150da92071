package org.sparkzorder.write.check

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.sql.zorder.SparkOwn
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.write.RewriteStep

/**
 * Returns the rows of the child unchanged, and counts and hashes them for each file that they come
 * from. If the child gives batches, these are hashed before they become rows.
 *
 * @param file ordinal of the row's file
 * @param read gets the result of each partition that was read to its end
 * @param listed tells whether a file is the one that was listed
 */
private[write] final case class HashedRowsExec(
    hash: RowHash,
    file: Attribute,
    read: ReadRows,
    listed: ListedInputs,
    child: SparkPlan
) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def stringArgs: Iterator[Any] = Iterator(file)
  override def supportsColumnar: Boolean = child.supportsColumnar && hash.takesBatches

  private def at: Int = {
    val at = child.output.indexWhere(_.exprId == file.exprId)
    require(at >= 0, s"$file is not in ${child.output.mkString("[", ", ", "]")}")
    at
  }

  override protected def doExecute(): RDD[InternalRow] = HashedRowsExec.rows(child, hash, at, read, listed)

  override protected def doExecuteColumnar(): RDD[ColumnarBatch] = HashedRowsExec.batches(child, hash, at, read, listed)

  override protected def withNewChildInternal(newChild: SparkPlan): HashedRowsExec = copy(child = newChild)
}

private[write] object HashedRowsExec {

  def step(rows: LogicalPlan, hash: RowHash, file: Attribute, read: ReadRows, listed: ListedInputs): RewriteStep =
    RewriteStep(rows.output, rows, HashedRowsExec(hash, file, read, listed, _))

  // Made in this object, so that the closure does not contain a plan.
  private def hashed[T: ClassTag](parts: RDD[T], read: ReadRows)(
      of: (Iterator[T], Map[Int, RowSum] => Unit) => Iterator[T]
  ): RDD[T] = parts.mapPartitionsWithIndex(
    (partition, parts) => of(parts, sums => read.add(partition -> sums)),
    preservesPartitioning = true
  )

  private def rows(child: SparkPlan, hash: RowHash, file: Int, read: ReadRows, listed: ListedInputs) =
    hashed(child.execute(), read)(new HashingIterator(_, hash, file, listed.confirm, _))

  private def batches(child: SparkPlan, hash: RowHash, file: Int, read: ReadRows, listed: ListedInputs) =
    hashed(child.executeColumnar(), read)(new HashingBatches(_, hash, file, listed.confirm, _))
}

/**
 * @tparam T rows of one file
 * @param begin called with a file when the first row of a part of it was read
 * @param end called once, after the last row, with the sums of the rows of each file
 */
private[write] abstract class HashingParts[T](parts: Iterator[T], begin: Int => Unit, end: Map[Int, RowSum] => Unit)
    extends Iterator[T] {
  private var sums = Map.empty[Int, RowSum]
  private var ended = false

  // The rows of a file follow each other.
  private var current = -1
  private var part: UTF8String = _
  private var count = 0L
  private var hashes = 0L

  protected def rowsOf(rows: T): Int
  protected def fileOf(rows: T): Int
  protected def hashOf(rows: T): Long

  override def hasNext: Boolean = parts.hasNext || {
    if (!ended) {
      ended = true
      keep()
      end(sums)
    }
    false
  }

  override def next(): T = {
    val rows = parts.next()
    val found = rowsOf(rows)
    if (found > 0) {
      look(fileOf(rows))
      count += found
      hashes += hashOf(rows)
    }
    rows
  }

  private def look(of: Int): Unit = {
    if (of != current) {
      keep()
      current = of
      part = null
    }
    // A task may read a file in parts, and opens it for each.
    val now = SparkOwn.currentFile
    if (now ne part) {
      part = now
      begin(of)
    }
  }

  private def keep(): Unit = {
    if (count > 0) sums += current -> (sums.getOrElse(current, RowSum.none) + RowSum(count, hashes))
    count = 0
    hashes = 0
  }
}

private[write] final class HashingIterator(
    rows: Iterator[InternalRow],
    hash: RowHash,
    file: Int,
    begin: Int => Unit,
    end: Map[Int, RowSum] => Unit
) extends HashingParts[InternalRow](rows, begin, end) {
  override protected def rowsOf(row: InternalRow): Int = 1
  override protected def fileOf(row: InternalRow): Int = row.getInt(file)
  override protected def hashOf(row: InternalRow): Long = hash.of(row)
}

private[write] final class HashingBatches(
    batches: Iterator[ColumnarBatch],
    hash: RowHash,
    file: Int,
    begin: Int => Unit,
    end: Map[Int, RowSum] => Unit
) extends HashingParts[ColumnarBatch](batches, begin, end) {
  override protected def rowsOf(batch: ColumnarBatch): Int = batch.numRows
  override protected def fileOf(batch: ColumnarBatch): Int = batch.column(file).getInt(0)
  override protected def hashOf(batch: ColumnarBatch): Long = hash.sum(batch).hash
}
