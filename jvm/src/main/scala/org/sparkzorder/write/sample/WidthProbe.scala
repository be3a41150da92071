package org.sparkzorder.write.sample

import java.util.SplittableRandom
import java.util.zip.Deflater

import scala.collection.mutable.ArrayBuffer
import scala.util.hashing.MurmurHash3

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.Platform

/** A sampled row: its unit, its key in the layout, and about how many bytes it takes in a file. */
private[write] final case class ProbedRow(unit: Int, z: Long, tie: Long, width: Double)

/** Measures how wide rows are. It reads all columns, so it reads only a part of the files. */
private[write] object WidthProbe {
  private val Seed = 0x5a6f726465725744L

  private val Share = 0.05

  private val Whole = 32L << 20

  /** So many times the sampled rows are looked at, since wide rows may be few. */
  private val MostTimes = 10d

  /** Values that are looked at. A million takes a second of a core or two. */
  private val MostValues = 400000d

  /** How many times as many rows are looked at as were sampled. */
  def times(sampled: Double, columns: Int): Double = math.min(MostTimes, MostValues / columns / math.max(1d, sampled))

  def shareOf(bytes: Double): Double = math.min(1d, math.max(Share, Whole / math.max(1d, bytes)))

  /** This share of so many things, evenly spaced; at least one. */
  def evenlySpaced(share: Double)(all: Int): Seq[Int] = {
    val n = math.ceil(all * share).toInt
    (0 until n).map(i => (i.toLong * all / n).toInt)
  }

  /**
   * Samples rows (file, tie, .., value of the curve, struct of the columns).
   *
   * @param probabilities of the rows of each file
   * @param unitOfFile the unit of each file
   * @param columns types of the struct's fields
   */
  def task(
      probabilities: Broadcast[Array[Double]],
      unitOfFile: Array[Int],
      columns: Seq[DataType]
  ): (TaskContext, Iterator[InternalRow]) => Array[ProbedRow] = (context, rows) => {
    val random = new SplittableRandom(Seed + context.partitionId())
    val widths = new Widths(columns)
    val found = ArrayBuffer.empty[ProbedRow]
    try rows.filter(row => random.nextDouble() < probabilities.value(row.getInt(0))).foreach { row =>
        widths.add(row.getStruct(row.numFields - 1, columns.length).asInstanceOf[UnsafeRow])
        found += ProbedRow(unitOfFile(row.getInt(0)), row.getLong(row.numFields - 2), row.getLong(1), 0d)
      }
    finally widths.close()
    found.toArray.zip(widths.result(found.length)).map { case (row, width) => row.copy(width = width) }
  }

  /** What ends the compressed form of each value, so that its size is known. */
  private val MarkBytes = 5

  /** A column whose different values take more has no dictionary, as parquet-java's limit is a MiB. */
  private val Dictionary = 1 << 19

  /**
   * A value counts as what a compressor adds for it, divided by the number of rows that have it if there is a
   * dictionary. A null counts nothing.
   */
  private final class Widths(columns: Seq[DataType]) {
    // A number takes half of its bytes in a file, about.
    private val fixed = columns.map(t => if (UnsafeRow.isFixedLength(t)) (t.defaultSize + 1) / 2 else 0).toArray
    private val hashes = Array.fill(columns.length)(Array.newBuilder[Int])
    private val sizes = Array.fill(columns.length)(Array.newBuilder[Int])
    private val deflater = new Deflater(Deflater.BEST_SPEED)
    private val buffer = new Array[Byte](1 << 14)

    def add(row: UnsafeRow): Unit = columns.indices.foreach { c =>
      val word = if (row.isNullAt(c)) 0L else row.getLong(c)
      lazy val bytes = slice(row, word)
      hashes(c) += (if (fixed(c) > 0 || row.isNullAt(c)) word.hashCode else MurmurHash3.bytesHash(bytes))
      sizes(c) += (if (row.isNullAt(c)) 0 else if (fixed(c) > 0) fixed(c) else compressed(bytes))
    }

    /** A field without fixed length has its place and size in a word, see UnsafeRow. */
    private def slice(row: UnsafeRow, word: Long): Array[Byte] = {
      val bytes = new Array[Byte](word.toInt)
      val from = row.getBaseOffset + (word >>> 32)
      Platform.copyMemory(row.getBaseObject, from, bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length.toLong)
      bytes
    }

    private def compressed(bytes: Array[Byte]): Int = {
      deflater.setInput(bytes)
      val all =
        Iterator.continually(deflater.deflate(buffer, 0, buffer.length, Deflater.SYNC_FLUSH)).takeWhile(_ > 0).sum
      math.max(0, all - MarkBytes)
    }

    def close(): Unit = deflater.end()

    def result(rows: Int): Array[Double] = {
      val widths = Array.fill(rows)(1d)
      for ((values, taken) <- hashes.map(_.result()).zip(sizes.map(_.result()))) {
        val counts = values.groupBy(identity).map { case (value, same) => value -> same.length }
        val shared = values.indices.map(i => taken(i).toDouble / counts(values(i)))
        val hasDictionary = shared.sum <= Dictionary
        values.indices.foreach(i => widths(i) += (if (hasDictionary) shared(i) else taken(i).toDouble))
      }
      widths
    }
  }
}
