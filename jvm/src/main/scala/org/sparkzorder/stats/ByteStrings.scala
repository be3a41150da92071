package org.sparkzorder.stats

import java.util.Arrays

import org.sparkzorder.compat.ByteArrays

/**
 * Byte strings, one for each file, without an object for each. An array of longs has the first
 * eight bytes of each string, where most comparisons end.
 *
 * @param bytes of all strings, one after the other
 * @param starts where each string begins, and then the end of the last one
 */
final class ByteStrings(bytes: Array[Byte], starts: Array[Int]) {
  private val prefixes = {
    val prefixes = new Array[Long](length)
    var i = 0
    while (i < length) {
      prefixes(i) = ByteStrings.prefix(bytes, starts(i), starts(i + 1))
      i += 1
    }
    prefixes
  }

  def length: Int = starts.length - 1

  def length(i: Int): Int = starts(i + 1) - starts(i)

  def apply(i: Int): Array[Byte] = Arrays.copyOfRange(bytes, starts(i), starts(i + 1))

  /** Like [[OrderedValue.compare]]. */
  def compare(i: Int, other: ByteString): Int =
    if (prefixes(i) != other.prefix) java.lang.Long.compare(prefixes(i), other.prefix)
    else ByteArrays.compareUnsigned(bytes, starts(i), starts(i + 1), other.bytes, 0, other.bytes.length)

  def compare(i: Int, others: ByteStrings): Int =
    if (prefixes(i) != others.prefixes(i)) java.lang.Long.compare(prefixes(i), others.prefixes(i))
    else others.compareTo(i, bytes, starts(i), starts(i + 1))

  private def compareTo(i: Int, left: Array[Byte], from: Int, until: Int): Int =
    ByteArrays.compareUnsigned(left, from, until, bytes, starts(i), starts(i + 1))

  def startsWith(i: Int, prefix: Array[Byte]): Boolean =
    length(i) >= prefix.length &&
      ByteArrays.equals(bytes, starts(i), starts(i) + prefix.length, prefix, 0, prefix.length)

  def memoryBytes: Long = bytes.length + 12L * starts.length
}

object ByteStrings {

  /** @param strings null counts as empty */
  def of(strings: Array[Array[Byte]]): ByteStrings = {
    val (bytes, starts) = joined(strings)
    new ByteStrings(bytes, starts)
  }

  /** The bytes of all strings, and where each begins; null counts as empty. */
  def joined(strings: Array[Array[Byte]]): (Array[Byte], Array[Int]) = {
    val starts = strings.scanLeft(0)((end, s) => Math.addExact(end, if (s == null) 0 else s.length))
    val bytes = new Array[Byte](starts.last)
    strings.indices.foreach { i =>
      if (strings(i) != null) System.arraycopy(strings(i), 0, bytes, starts(i), strings(i).length)
    }
    (bytes, starts)
  }

  def empty(n: Int): ByteStrings = new ByteStrings(Array.emptyByteArray, new Array[Int](n + 1))

  /**
   * The first eight bytes as a long of the same order, with zeros for missing bytes: if the longs
   * of two strings differ, the strings differ in the same direction.
   */
  private[stats] def prefix(bytes: Array[Byte], from: Int, until: Int): Long = {
    var prefix = 0L
    var i = 0
    while (i < 8) {
      prefix = (prefix << 8) | (if (from + i < until) bytes(from + i) & 0xffL else 0L)
      i += 1
    }
    prefix ^ Long.MinValue
  }
}

/** A byte string that those of files are compared with. */
final class ByteString(val bytes: Array[Byte]) {
  private[stats] val prefix: Long = ByteStrings.prefix(bytes, 0, bytes.length)
}

/** Short bounds for long byte strings. */
object ByteBounds {

  /** The most bytes that a bound of a string or binary column may have. */
  val MaxLength = 128

  /** A lower bound of at most [[MaxLength]] bytes: a prefix is never greater than the value. */
  def lower(value: Array[Byte]): Array[Byte] = if (value.length <= MaxLength) value else Arrays.copyOf(value, MaxLength)

  /** An upper bound of at most [[MaxLength]] bytes; null when the first 128 bytes are all 0xFF. */
  def upper(value: Array[Byte]): Array[Byte] =
    if (value.length <= MaxLength) value else after(Arrays.copyOf(value, MaxLength))

  /**
   * The least byte string that is greater than all that begin with `prefix`: the prefix without its
   * trailing 0xFF bytes, with one added to its last byte. For example, `61 62 FF` gives `61 63`.
   * Null when the prefix has only bytes 0xFF.
   */
  def after(prefix: Array[Byte]): Array[Byte] = {
    var n = prefix.length
    while (n > 0 && prefix(n - 1) == -1) n -= 1
    if (n == 0) null
    else {
      val out = Arrays.copyOf(prefix, n)
      out(n - 1) = (out(n - 1) + 1).toByte
      out
    }
  }
}
