package org.sparkzorder.index

import java.util.{Arrays, BitSet}

import org.sparkzorder.compat.ByteArrays

/**
 * Writes the bytes of a block before compression. All numbers are big-endian. `size` must be exact.
 */
private[index] final class RawWriter(size: Long) {
  if (size > RawBytes.MaxSize) throw new IllegalArgumentException(s"a block of $size bytes is too large for an index")
  val bytes = new Array[Byte](size.toInt)
  private var at = 0

  def raw(b: Array[Byte]): Unit = {
    System.arraycopy(b, 0, bytes, at, b.length)
    at += b.length
  }

  def byte(v: Int): Unit = {
    bytes(at) = v.toByte
    at += 1
  }

  def bits(set: BitSet, n: Int): Unit = {
    raw(Arrays.copyOf(set.toByteArray, RawBytes.bitsSize(n)))
  }

  /**
   * Longs, each as its difference from a base. The first bytes of all differences come first, then
   * all second bytes, and so on: the high bytes of small differences are alike, so they compress to
   * almost nothing.
   */
  def longs(v: Array[Long], base: Int => Long): Unit = {
    val n = v.length
    var i = 0
    while (i < n) {
      val d = v(i) - base(i)
      var b = 0
      while (b < 8) {
        bytes(at + b * n + i) = (d >>> (56 - 8 * b)).toByte
        b += 1
      }
      i += 1
    }
    at += 8 * n
  }

  def ints(v: Array[Int]): Unit = {
    val n = v.length
    var i = 0
    while (i < n) {
      var b = 0
      while (b < 4) {
        bytes(at + b * n + i) = (v(i) >>> (24 - 8 * b)).toByte
        b += 1
      }
      i += 1
    }
    at += 4 * n
  }
}

/**
 * Reads what [[RawWriter]] wrote. Reading more bytes than there are throws an
 * [[IndexFormatException]].
 */
private[index] final class RawReader(bytes: Array[Byte]) {
  private var at = 0

  private def take(n: Long): Int = {
    if (n < 0 || n > bytes.length - at) throw new IndexFormatException("a block is shorter than its contents")
    val from = at
    at += n.toInt
    from
  }

  /** Throws unless all bytes were read. */
  def end(): Unit = if (at != bytes.length) throw new IndexFormatException("a block is longer than its contents")

  def raw(n: Int): Array[Byte] = {
    val from = take(n.toLong)
    Arrays.copyOfRange(bytes, from, from + n)
  }

  def bits(n: Int): BitSet = {
    val set = BitSet.valueOf(raw(RawBytes.bitsSize(n)))
    if (set.length > n) throw new IndexFormatException("a bit set has bits of files that are not there")
    set
  }

  /** The differences that [[RawWriter.longs]] wrote. */
  def longs(n: Int): Array[Long] = {
    val from = take(8L * n)
    val v = new Array[Long](n)
    // Most counts of nulls are all zero.
    if (!isZero(from, 8 * n)) {
      var i = 0
      while (i < n) {
        v(i) = (bytes(from + i) & 0xffL) << 56 | (bytes(from + n + i) & 0xffL) << 48 |
          (bytes(from + 2 * n + i) & 0xffL) << 40 | (bytes(from + 3 * n + i) & 0xffL) << 32 |
          (bytes(from + 4 * n + i) & 0xffL) << 24 | (bytes(from + 5 * n + i) & 0xffL) << 16 |
          (bytes(from + 6 * n + i) & 0xffL) << 8 | (bytes(from + 7 * n + i) & 0xffL)
        i += 1
      }
    }
    v
  }

  private def isZero(from: Int, length: Int): Boolean =
    length == 0 || bytes(from) == 0 &&
      ByteArrays.equals(bytes, from, from + length - 1, bytes, from + 1, from + length)

  /** Longs that were each written as their difference from the one before. */
  def runningLongs(n: Int): Array[Long] = {
    val v = longs(n)
    var i = 1
    while (i < n) {
      v(i) += v(i - 1)
      i += 1
    }
    v
  }

  /**
   * Longs that were each written as their difference from the number at the same index of `base`.
   */
  def longsAbove(base: Array[Long]): Array[Long] = {
    val v = longs(base.length)
    var i = 0
    while (i < base.length) {
      v(i) += base(i)
      i += 1
    }
    v
  }

  def ints(n: Int): Array[Int] = {
    val from = take(4L * n)
    val v = new Array[Int](n)
    var i = 0
    while (i < n) {
      var d = 0
      var b = 0
      while (b < 4) {
        d = (d << 8) | (bytes(from + b * n + i) & 0xff)
        b += 1
      }
      v(i) = d
      i += 1
    }
    v
  }
}

private[index] object RawBytes {
  // The JVM's arrays have a little less than 2^31 elements.
  val MaxSize: Long = Int.MaxValue - 1024L

  def bitsSize(n: Int): Int = (n + 7) >>> 3
}
