package org.sparkzorder.write.sample

import java.util.{BitSet, SplittableRandom}

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow

import org.sparkzorder.layout.{RowWidths, UnitLayout, ValueDistribution}
import org.sparkzorder.stats.KeyEncoding

/** One key column of the sampled rows, encoded by [[KeyEncoding]]. */
sealed trait SampledColumn extends Serializable {

  /** The value of row i: a long, a byte string or null. */
  def apply(i: Int): Any
}

final class SampledLongs(values: Array[Long], nulls: BitSet) extends SampledColumn {
  def apply(i: Int): Any = if (nulls.get(i)) null else values(i)
}

final class SampledBytes(values: Array[Array[Byte]]) extends SampledColumn {
  def apply(i: Int): Any = values(i)
}

/** The sampled rows of a task: the ordinal of each row's file, its tie, and its keys. */
final class KeySample(val files: Array[Int], val ties: Array[Long], val columns: Array[SampledColumn])
    extends Serializable {
  def rows: Int = files.length

  def key(row: Int): Seq[Any] = columns.toSeq.map(_(row))
}

object KeySample {
  private val Seed = 0x5a6f726465724b65L

  /**
   * Samples rows (file, tie, key, ..), each with its file's probability. A task that runs again samples the same rows.
   *
   * @param partition number of the task's partition
   * @param widths for each file, how much likelier a row is at its place. Rows then end with their values of the curve.
   *   A row may be drawn several times
   */
  def draw(
      partition: Int,
      rows: Iterator[InternalRow],
      probabilities: Array[Double],
      encodings: Array[KeyEncoding],
      widths: Int => Option[RowWidths] = _ => None
  ): KeySample = {
    val random = new SplittableRandom(Seed + partition)
    val files = new ArrayBuffer[Int]
    val ties = new ArrayBuffer[Long]
    val columns = encodings.map(new Column(_))
    rows.foreach { row =>
      val file = row.getInt(0)
      val share = probabilities(file) * widths(file).fold(1d)(_.of(row.getLong(row.numFields - 1), row.getLong(1)))
      val whole = math.floor(share)
      for (_ <- 0 until (if (random.nextDouble() < share - whole) whole + 1 else whole).toInt) {
        files += file
        ties += row.getLong(1)
        columns.indices.foreach(c => columns(c).add(row, c + 2))
      }
    }
    new KeySample(files.toArray, ties.toArray, columns.map(_.result()))
  }

  /** Runs [[draw]] in a task of the sample job. Made in this object, so that the closure contains nothing else. */
  def task(
      probabilities: Broadcast[Array[Double]],
      encodings: Array[KeyEncoding],
      widths: Int => Option[RowWidths] = _ => None
  ): (TaskContext, Iterator[InternalRow]) => KeySample =
    (task, rows) => draw(task.partitionId(), rows, probabilities.value, encodings, widths)

  private final class Column(encoding: KeyEncoding) {
    private val longs = new ArrayBuffer[Long]
    private val bytes = new ArrayBuffer[Array[Byte]]
    private val nulls = new BitSet

    def add(row: InternalRow, ordinal: Int): Unit = {
      val value = if (row.isNullAt(ordinal)) null else row.get(ordinal, encoding.dataType)
      if (!encoding.isLong) bytes += (if (value == null) null else encoding.bytes(value))
      else {
        if (value == null) nulls.set(longs.length)
        longs += (if (value == null) 0L else encoding.long(value))
      }
    }

    def result(): SampledColumn =
      if (encoding.isLong) new SampledLongs(longs.toArray, nulls) else new SampledBytes(bytes.toArray)
  }
}

/** Row number `row` of a sample. */
private[write] final case class SampledRow(sample: KeySample, row: Int) {
  def file: Int = sample.files(row)
  def tie: Long = sample.ties(row)

  /** The encoded values that rows are placed by, then those of the key columns. */
  def values: Seq[Any] = sample.key(row)
  def value(c: Int): Any = sample.columns(c)(row)

  /** Its key in a layout, see [[org.sparkzorder.layout.Cuts]]. Without columns, rows keep the order of their files. */
  def key(layout: UnitLayout): (Long, Long) = {
    val columns = layout.distributions.length
    (if (columns == 0) file.toLong else layout.z(values.take(columns)), tie)
  }
}

private[write] object SampledRows {

  /** The distribution of each of the sampled values. */
  def distributions(rows: IndexedSeq[SampledRow], encodings: Seq[KeyEncoding]): IndexedSeq[ValueDistribution] =
    encodings.indices.map(c => ValueDistribution.ofEncoded(rows.map(_.value(c)), encodings(c).isLong))

  /** The rows of each unit; a unit without rows is not in the map. */
  def ofUnits(samples: Seq[KeySample], unitOfFile: Array[Int]): Map[Int, IndexedSeq[SampledRow]] = {
    val all = for { sample <- samples.toIndexedSeq; row <- 0 until sample.rows } yield SampledRow(sample, row)
    all.groupBy(row => unitOfFile(row.file))
  }
}
