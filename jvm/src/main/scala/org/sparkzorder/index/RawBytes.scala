package org.sparkzorder.index

import java.util.{Arrays, BitSet}

/** Writes what a block holds before compression; `size` must be exact. All numbers are big-endian. */
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
   * Longs of which each is near its base: the differences, their first bytes, then their second bytes and so on, since
   * the high bytes of small differences are alike and compress to nothing.
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

/** Reads what [[RawWriter]] wrote; asking for more than there is, or leaving some, is an [[IndexFormatException]]. */
private[index] final class RawReader(bytes: Array[Byte]) {
  private var at = 0

  private def take(n: Long): Int = {
    if (n < 0 || n > bytes.length - at) throw new IndexFormatException("a block is shorter than its contents")
    val from = at
    at += n.toInt
    from
  }

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

  /** `base(i)` is asked for after the entries before i are set in the array, which it is given. */
  def longs(n: Int, base: (Array[Long], Int) => Long): Array[Long] = {
    val from = take(8L * n)
    val v = new Array[Long](n)
    var i = 0
    while (i < n) {
      var d = 0L
      var b = 0
      while (b < 8) {
        d = (d << 8) | (bytes(from + b * n + i) & 0xffL)
        b += 1
      }
      v(i) = d + base(v, i)
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
  // Arrays of the JVM end a little below 2^31.
  val MaxSize: Long = Int.MaxValue - 1024L

  def bitsSize(n: Int): Int = (n + 7) >>> 3
}
