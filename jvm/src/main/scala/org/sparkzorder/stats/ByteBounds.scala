package org.sparkzorder.stats

import java.util.Arrays

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
