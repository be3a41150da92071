package org.sparkzorder.stats

import java.lang.{Long => JLong}
import java.nio.ByteOrder

import org.apache.spark.unsafe.Platform

/**
 * The least and the greatest of byte strings in unsigned order. Only the first [[ByteBounds.MaxLength]] bytes of each are
 * looked at: v <= w implies prefix(v) <= prefix(w), so the extremes of the prefixes are the prefixes of the extremes. The
 * greatest value is longer than its prefix if any value with that prefix is.
 *
 * This runs for each string that is written, so values are compared in place. For most of them the first eight bytes
 * decide both comparisons. Spark's own `UTF8String.compareTo` asks for a system property each time.
 */
private[stats] final class ByteRange {
  private var min: Array[Byte] = _
  private var max: Array[Byte] = _
  private var minHead = 0L
  private var maxHead = 0L
  private var maxCut = false

  /** Adds the `length` bytes at an address as [[org.apache.spark.unsafe.Platform]] gives them. */
  def add(base: AnyRef, offset: Long, length: Int): Unit = {
    val n = math.min(length, ByteBounds.MaxLength)
    val cut = length > n
    val head = ByteRange.head(base, offset, n)
    if (min == null) {
      min = ByteRange.copy(base, offset, n)
      minHead = head
      max = min
      maxHead = head
      maxCut = cut
    } else {
      val c = compare(head, base, offset, n, maxHead, max)
      if (c > 0) {
        max = ByteRange.copy(base, offset, n)
        maxHead = head
        maxCut = cut
      } else if (c == 0) maxCut |= cut
      else if (compare(head, base, offset, n, minHead, min) < 0) {
        min = ByteRange.copy(base, offset, n)
        minHead = head
      }
    }
  }

  /** There are no bounds before the first value, and none if the greatest has no short upper bound. */
  def result(nulls: Long): ColumnStats = {
    val upper = if (max != null && maxCut) ByteBounds.after(max) else max
    if (upper == null) ColumnStats(null, null, nulls, 0L) else ColumnStats(min, upper, nulls, 0L)
  }

  private def compare(head: Long, base: AnyRef, offset: Long, n: Int, boundHead: Long, bound: Array[Byte]): Int = {
    val c = JLong.compareUnsigned(head, boundHead)
    if (c != 0) c else ByteRange.compare(base, offset, n, bound)
  }
}

private object ByteRange {
  private val littleEndian = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN

  /**
   * The first eight bytes as an unsigned number, with zeros for missing bytes. If the numbers of two strings differ, the
   * strings differ in the same direction: a string sorts before all longer strings that begin with it.
   */
  private def head(base: AnyRef, offset: Long, n: Int): Long =
    if (n >= 8) word(base, offset)
    else {
      var out = 0L
      var i = 0
      while (i < n) {
        out |= (Platform.getByte(base, offset + i) & 0xffL) << (56 - 8 * i)
        i += 1
      }
      out
    }

  private def word(base: AnyRef, offset: Long): Long = {
    val raw = Platform.getLong(base, offset)
    if (littleEndian) JLong.reverseBytes(raw) else raw
  }

  private def compare(base: AnyRef, offset: Long, n: Int, other: Array[Byte]): Int = {
    val common = math.min(n, other.length)
    var i = 0
    while (i + 8 <= common) {
      val a = word(base, offset + i)
      val b = word(other, Platform.BYTE_ARRAY_OFFSET + i)
      if (a != b) return JLong.compareUnsigned(a, b)
      i += 8
    }
    while (i < common) {
      val a = Platform.getByte(base, offset + i) & 0xff
      val b = other(i) & 0xff
      if (a != b) return a - b
      i += 1
    }
    n - other.length
  }

  private def copy(base: AnyRef, offset: Long, n: Int): Array[Byte] = {
    val out = new Array[Byte](n)
    Platform.copyMemory(base, offset, out, Platform.BYTE_ARRAY_OFFSET, n)
    out
  }
}
