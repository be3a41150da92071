package org.sparkzorder.write.rows

import java.lang.Long.{numberOfLeadingZeros, reverseBytes}
import java.nio.ByteOrder

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET

/**
 * Packs unsafe rows for a shuffle. Such a row is made of words of 8 bytes, and most of them begin with zeros: numbers
 * are small, and a field that is longer than a word has its offset and its length there. A packed row is about half as
 * long, and takes less time to compress.
 *
 * A packed row has the number of its words (4 bytes), half a byte for each word with the number of its significant
 * bytes, these bytes, and [[RowCompaction.Spare]] zeros more, so that the last one can be read as a whole word. As most
 * offsets follow from the lengths before them, the packed ones are xored with those that follow. Any words come back as
 * they were, whatever they mean.
 *
 * Example: the row (3, null, 'ab') has five words: null bits, 3, 0, offset 32 and length 2, 'ab'. They pack into 1, 1,
 * 0, 1 and 2 bytes.
 *
 * The same idea is in Cap'n Proto's packing (https://capnproto.org/encoding.html#packing), which drops zero bytes
 * anywhere in a word.
 *
 * @param schema of the rows
 */
private[write] final class RowCompaction(schema: StructType) extends Serializable {
  import RowCompaction._

  private val fields = schema.length
  private val nullWords = UnsafeRow.calculateBitSetWidthInBytes(fields) / 8
  private val firstOffset = 8L * (nullWords + fields)

  /** Which words have an offset, in the order of the fields. */
  private val offsets =
    schema.fields.indices.filterNot(i => UnsafeRow.isFixedLength(schema(i).dataType)).map(nullWords + _).toArray

  /** The most bytes of a packed row. */
  def mostBytes(row: UnsafeRow): Int = {
    val words = row.getSizeInBytes / 8
    Math.toIntExact(CountBytes + (words + 1) / 2 + 8L * words + Spare)
  }

  /**
   * Writes a packed row.
   *
   * @param to must have room for [[mostBytes]] from `start` on
   * @return the length of the packed row
   */
  def pack(row: UnsafeRow, to: Array[Byte], start: Int): Int = {
    val (base, from) = (row.getBaseObject, row.getBaseOffset)
    val words = row.getSizeInBytes / 8
    val begin = BYTE_ARRAY_OFFSET.toLong + start
    Platform.putInt(to, begin, words)
    var lengths = begin + CountBytes
    var at = lengths + (words + 1) / 2
    var expected = firstOffset
    var nextOffset = 0
    var i = 0
    while (i < words) {
      // Two words have one byte for their lengths.
      var both = 0
      var shift = 0
      while (shift <= 4 && i < words) {
        var word = Platform.getLong(base, from + 8L * i)
        if (nextOffset < offsets.length && i == offsets(nextOffset)) {
          val length = word & LengthMask
          word ^= expected << 32
          expected += (length + 7) & ~7L
          nextOffset += 1
        }
        val bytes = 8 - numberOfLeadingZeros(word) / 8
        Platform.putLong(to, at, littleEndian(word))
        at += bytes
        both |= bytes << shift
        shift += 4
        i += 1
      }
      Platform.putByte(to, lengths, both.toByte)
      lengths += 1
    }
    Platform.putLong(to, at, 0L)
    Math.toIntExact(at - begin) + Spare
  }

  /**
   * Writes the row as it was.
   *
   * @param base and `offset`: where a packed row begins
   * @param length of the packed row
   * @param into the row, which then points to its own bytes until the next call
   * @throws IllegalStateException if these bytes are no packed row of this schema
   */
  def unpack(base: AnyRef, offset: Long, length: Int, into: RowCompaction.Unpacked): UnsafeRow = {
    val words = Platform.getInt(base, offset)
    if (words < nullWords + fields || CountBytes + (words + 1L) / 2 + Spare > length) throw damaged
    val to = into.ofWords(words)
    var lengths = offset + CountBytes
    var at = lengths + (words + 1) / 2
    var i = BYTE_ARRAY_OFFSET.toLong
    val end = i + 8L * words
    while (i < end) {
      val both = Platform.getByte(base, lengths)
      val first = both & 15
      Platform.putLong(to, i, littleEndian(Platform.getLong(base, at)) & Masks(first))
      at += first
      // If there is no second word, its length is 0. The array has room for it.
      val second = (both >> 4) & 15
      Platform.putLong(to, i + 8, littleEndian(Platform.getLong(base, at)) & Masks(second))
      at += second
      lengths += 1
      i += 16
    }
    if (at + Spare != offset + length) throw damaged
    var expected = firstOffset
    var n = 0
    while (n < offsets.length) {
      val word = BYTE_ARRAY_OFFSET + 8L * offsets(n)
      val own = Platform.getLong(to, word) ^ (expected << 32)
      Platform.putLong(to, word, own)
      expected += ((own & LengthMask) + 7) & ~7L
      n += 1
    }
    into.row.pointTo(to, 8 * words)
    into.row
  }

  private def damaged = new IllegalStateException("a packed row is damaged")

  def unpacked(): Unpacked = new Unpacked(fields)
}

private[write] object RowCompaction {

  private val CountBytes = 4

  /** Zeros after the last byte. */
  val Spare = 8

  /** Of a word with an offset and a length. */
  private val LengthMask = 0xffffffffL

  /** By the number of significant bytes. */
  private val Masks = Array.tabulate(9)(n => if (n == 8) -1L else (1L << (8 * n)) - 1)

  private val isLittleEndian = ByteOrder.nativeOrder == ByteOrder.LITTLE_ENDIAN

  private def littleEndian(word: Long): Long = if (isLittleEndian) word else reverseBytes(word)

  final class Unpacked(fields: Int) {
    private[RowCompaction] val row = new UnsafeRow(fields)
    private var bytes = new Array[Byte](1024)

    private[RowCompaction] def ofWords(words: Int): Array[Byte] = {
      val needed = 8L * words + 8
      if (needed > bytes.length)
        bytes = new Array[Byte](Math.toIntExact(math.max(needed, math.min(2 * needed, 1L << 24))))
      bytes
    }
  }
}
