package org.sparkzorder.write.rows

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow.calculateBitSetWidthInBytes
import org.apache.spark.unsafe.Platform.{getLong, putLong, BYTE_ARRAY_OFFSET}
import org.apache.spark.unsafe.bitset.BitSetMethods

/**
 * The bytes of some unsafe rows, one after the other.
 *
 * @param fields of a row
 * @param most rows
 */
private[rows] final class RowBlock(fields: Int, most: Int) {
  import RowBlock._

  private val nullBytes = calculateBitSetWidthInBytes(fields)
  private val fixed = nullBytes + 8 * fields
  private val lengths = new Array[Int](most)

  var bytes = new Array[Byte](1 << 16)

  /** Where each row begins, and where the last one ends. */
  val starts = new Array[Int](most + 1)

  /** Begins with rows that have only words. */
  def begin(size: Int): Unit = Arrays.fill(lengths, 0, size, fixed)

  /** Makes room for a value beside the words. */
  def lengthen(i: Int, by: Int): Unit = lengths(i) = Math.addExact(lengths(i), by)

  /**
   * Gives rows their places. Their words are zero.
   *
   * @return how many rows have one: as many as there is room for, and at least the first
   */
  def layOut(size: Int): Int = {
    var end = 0
    var count = 0
    while (count < size && (count == 0 || end + lengths(count).toLong <= MostBytes)) {
      starts(count) = end
      end += lengths(count)
      count += 1
    }
    starts(count) = end
    if (end > bytes.length) bytes = new Array[Byte](math.max(MostBytes, end))
    var i = 0
    while (i < count) {
      Arrays.fill(bytes, starts(i), starts(i) + fixed, 0.toByte)
      i += 1
    }
    begin(count)
    count
  }

  /** The place of a field's word in a row that begins at 0. */
  def word(field: Int): Long = BYTE_ARRAY_OFFSET.toLong + nullBytes + 8L * field

  def setNull(i: Int, field: Int): Unit = BitSetMethods.set(bytes, BYTE_ARRAY_OFFSET.toLong + starts(i), field)

  /**
   * Puts a value of length 0 behind those that the row has.
   *
   * @param room of the value
   * @return its place
   */
  def begin(i: Int, field: Int, room: Int): Long = {
    val offset = lengths(i)
    lengths(i) = offset + room
    putLong(bytes, word(field) + starts(i), offset.toLong << 32)
    BYTE_ARRAY_OFFSET.toLong + starts(i) + offset
  }

  def setLength(i: Int, field: Int, length: Int): Unit = {
    val at = word(field) + starts(i)
    putLong(bytes, at, getLong(bytes, at) | length)
  }
}

private object RowBlock {

  val MostBytes: Int = 1 << 20
}
