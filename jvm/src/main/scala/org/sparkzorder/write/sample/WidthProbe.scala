package org.sparkzorder.write.sample

import java.util.SplittableRandom
import java.util.zip.Deflater

import scala.collection.mutable
import scala.util.hashing.MurmurHash3

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** A sampled row: the ordinal of its file, its key in the layout, and about how many bytes it takes in a file. */
private[write] final case class ProbedRow(file: Int, z: Long, tie: Long, width: Double)

/**
 * Measures how wide rows are. It reads all columns that have no fixed length, so it reads only a
 * part of the files.
 */
private[write] object WidthProbe {
  private val Seed = 0x5a6f726465725744L

  /** The share of large inputs that is read. */
  private val Share = 0.05

  /** Inputs of fewer bytes are read whole. */
  private val Whole = 32L << 20

  /** What a column of fixed length takes in a file, about. */
  private val FixedBytes = 4

  /** So many times the sampled rows are looked at, since wide rows may be few. */
  private val Times = 10d

  /** Rows that the driver holds, or as many as were sampled. */
  private val Most = 200000d

  /** How many times as many rows are looked at as were sampled. */
  def more(sampled: Double): Double = math.max(1d, math.min(Times, Most / math.max(1d, sampled)))

  /** @param bytes of the input files */
  def shareOf(bytes: Long): Double = math.min(1d, math.max(Share, Whole.toDouble / math.max(1L, bytes)))

  /** This share of so many partitions, evenly spaced. */
  def partitions(share: Double)(all: Int): Seq[Int] = {
    val n = math.ceil(all * share).toInt
    (0 until n).map(i => (i.toLong * all / n).toInt)
  }

  /**
   * Samples rows (file, tie, .., value of the curve, struct of the columns without fixed length).
   *
   * @param probabilities of the rows of each file
   * @param wide columns of the struct
   * @param fixed the number of the other columns
   */
  def task(
      probabilities: Broadcast[Array[Double]],
      wide: Int,
      fixed: Int
  ): (TaskContext, Iterator[InternalRow]) => Array[ProbedRow] = (context, rows) => {
    val random = new SplittableRandom(Seed + context.partitionId())
    val widths = new Widths(wide)
    try rows.filter(row => random.nextDouble() < probabilities.value(row.getInt(0))).map { row =>
        val values = row.getStruct(row.numFields - 1, wide).asInstanceOf[UnsafeRow]
        val width = widths.of(values).toDouble + FixedBytes * fixed
        ProbedRow(row.getInt(0), row.getLong(row.numFields - 2), row.getLong(1), width)
      }.toArray
    finally widths.close()
  }

  /** A value counts as what a compressor adds for it, and as nothing when it came before, as in a dictionary. */
  private final class Widths(columns: Int) {
    private val seen = Array.fill(columns)(mutable.HashSet.empty[Int])
    private val deflater = new Deflater(Deflater.BEST_SPEED)
    private val buffer = new Array[Byte](1 << 14)

    def of(values: UnsafeRow): Int = (0 until columns).filterNot(values.isNullAt).map { c =>
      // A field without fixed length has its place and size in a word, see UnsafeRow.
      val word = values.getLong(c)
      val bytes = new Array[Byte](word.toInt)
      val from = values.getBaseOffset + (word >>> 32)
      Platform.copyMemory(values.getBaseObject, from, bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length.toLong)
      if (seen(c).add(MurmurHash3.bytesHash(bytes))) compressed(bytes) else 0
    }.sum

    private def compressed(bytes: Array[Byte]): Int = {
      deflater.setInput(bytes)
      Iterator.continually(deflater.deflate(buffer, 0, buffer.length, Deflater.SYNC_FLUSH)).takeWhile(_ > 0).sum
    }

    def close(): Unit = deflater.end()
  }
}
