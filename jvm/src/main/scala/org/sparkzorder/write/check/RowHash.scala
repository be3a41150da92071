package org.sparkzorder.write.check

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow, XXH64}
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform

import org.sparkzorder.compat._

/**
 * The number of rows, and the sum of their hashes modulo 2^64, which does not depend on their
 * order. Two different sets of rows have the same sum only with a probability of about 1 in 2^64.
 */
final case class RowSum(rows: Long, hash: Long) {
  def +(other: RowSum): RowSum = RowSum(rows + other.rows, hash + other.hash)

  /** The hash as 16 hexadecimal digits. */
  def hex: String = f"$hash%016x"
}

object RowSum {
  val none: RowSum = RowSum(0, 0)

  def of(sums: IterableOnce[RowSum]): RowSum = sums.iterator.foldLeft(none)(_ + _)
}

/**
 * A 64-bit hash of the first fields of a row, computed from the bytes of an unsafe row, so NaN and
 * -0.0 count as they are stored. Later fields do not matter: a row has the same hash before the
 * shuffle and after its key was taken off.
 *
 * An unsafe row has a null bit for each field, then a word for each field, then the bytes of all
 * values longer than a word, one after the other. The word of such a value has its offset and its
 * length. More fields shift the offsets of all values by the same number, so the hash uses offsets
 * from the first value. Example: with one more LONG at the end, the offset of a string changes from
 * 24 to 32, and the hash uses 0 in both cases.
 *
 * The hash is xxHash64 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md): its step for
 * single words over null bits and words, then the whole algorithm over the bytes, with the hash so
 * far as the seed.
 *
 * @param schema of the fields to hash, with which rows begin
 */
private[write] final class RowHash(schema: StructType) extends Serializable {
  import RowHash._

  private val fields = schema.length
  private val nullWords = (fields + 63) / 64
  private val maskOfLast = if (fields % 64 == 0) -1L else (1L << (fields % 64)) - 1
  private val isLong = schema.map(f => !UnsafeRow.isFixedLength(f.dataType)).toArray

  @transient private lazy val projection =
    UnsafeProjection.create(schema.zipWithIndex.map { case (f, i) => BoundReference(i, f.dataType, nullable = true) })

  def of(row: InternalRow): Long = hash(unsafe(row))

  /** The row as an unsafe row. It is valid until the next call. */
  def unsafe(row: InternalRow): UnsafeRow = row match {
    case unsafe: UnsafeRow => unsafe
    case other             => projection(other)
  }

  private def hash(row: UnsafeRow): Long = {
    val base = row.getBaseObject
    val start = row.getBaseOffset
    var h = Start
    var i = 0
    while (i < nullWords) {
      val nulls = Platform.getLong(base, start + 8L * i)
      h = step(h, if (i == nullWords - 1) nulls & maskOfLast else nulls)
      i += 1
    }
    val words = start + UnsafeRow.calculateBitSetWidthInBytes(row.numFields)
    var first = 0L
    var end = 0L
    i = 0
    while (i < fields) {
      var word = Platform.getLong(base, words + 8L * i)
      // A null decimal keeps its space, and so has an offset.
      if (word != 0 && isLong(i)) {
        val offset = word >>> 32
        if (first == 0) first = offset
        end = offset + ((word & 0xffffffffL) + 7) / 8 * 8
        word -= first << 32
      }
      h = step(h, word)
      i += 1
    }
    XXH64.hashUnsafeWords(base, start + first, (end - first).toInt, h)
  }
}

private object RowHash {
  private val Prime1 = 0x9e3779b185ebca87L
  private val Prime2 = 0xc2b2ae3d27d4eb4fL
  private val Prime4 = 0x85ebca77c2b2ae63L
  private val Start = 0x27d4eb2f165667c5L

  private def step(h: Long, word: Long): Long =
    java.lang.Long.rotateLeft(h ^ java.lang.Long.rotateLeft(word * Prime2, 31) * Prime1, 27) * Prime1 + Prime4
}
