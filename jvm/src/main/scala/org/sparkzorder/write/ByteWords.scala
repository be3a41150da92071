package org.sparkzorder.write

import java.lang.Long.rotateLeft

import org.apache.spark.unsafe.Platform.{getByte, getInt, getLong, BYTE_ARRAY_OFFSET}

/**
 * Compares and hashes parts of arrays by words. Where bytes are left over, the last word overlaps the one before.
 * Spark's functions take them one by one, and most values of a dictionary are so short that this is the greater part.
 */
private[write] object ByteWords {

  def equal(a: Array[Byte], fromA: Int, b: Array[Byte], fromB: Int, length: Int): Boolean = {
    val (x, y) = (BYTE_ARRAY_OFFSET.toLong + fromA, BYTE_ARRAY_OFFSET.toLong + fromB)
    if (length >= 8) {
      val last = length - 8
      var i = 0
      while (i < last && getLong(a, x + i) == getLong(b, y + i)) i += 8
      i >= last && getLong(a, x + last) == getLong(b, y + last)
    } else if (length >= 4) getInt(a, x) == getInt(b, y) && getInt(a, x + length - 4) == getInt(b, y + length - 4)
    else {
      var i = 0
      while (i < length && getByte(a, x + i) == getByte(b, y + i)) i += 1
      i == length
    }
  }

  def hash(a: Array[Byte], from: Int, length: Int): Int = hash(a, BYTE_ARRAY_OFFSET.toLong + from, length).toInt

  /** A hash of 64 bits, by steps and the last mixing of xxHash64. */
  def hash(a: AnyRef, x: Long, length: Int): Long = {
    var h = length * Prime1
    if (length >= 8) {
      val last = length - 8
      var i = 0
      while (i < last) {
        h = step(h, getLong(a, x + i))
        i += 8
      }
      h = step(h, getLong(a, x + last))
    } else if (length >= 4) h = step(h, getInt(a, x).toLong << 32 | getInt(a, x + length - 4) & 0xffffffffL)
    else {
      var word = 0L
      var i = 0
      while (i < length) {
        word = word << 8 | getByte(a, x + i) & 0xffL
        i += 1
      }
      h = step(h, word)
    }
    h ^= h >>> 33
    h *= Prime2
    h ^ h >>> 29
  }

  /** The hash of what came before, and a word. */
  def step(h: Long, word: Long): Long = rotateLeft(h ^ word * Prime2, 31) * Prime1

  private val Prime1 = 0x9e3779b185ebca87L
  private val Prime2 = 0xc2b2ae3d27d4eb4fL
}
