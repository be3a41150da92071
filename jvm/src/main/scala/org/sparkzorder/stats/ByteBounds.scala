package org.sparkzorder.stats

import java.util.Arrays

/** Short bounds for long byte strings. */
object ByteBounds {

  /** Bytes that a bound of a string or binary column may have. */
  val MaxLength = 128

  /** A lower bound of at most [[MaxLength]] bytes: a prefix never comes after what it is a prefix of. */
  def lower(value: Array[Byte]): Array[Byte] = if (value.length <= MaxLength) value else Arrays.copyOf(value, MaxLength)

  /** An upper bound of at most [[MaxLength]] bytes; null when there is none, which takes 128 bytes of 0xFF. */
  def upper(value: Array[Byte]): Array[Byte] =
    if (value.length <= MaxLength) value else after(Arrays.copyOf(value, MaxLength))

  /**
   * The least byte string above all that begin with `prefix`: without its trailing 0xFF, the last byte plus one.
   * For example `61 62 FF` gives `61 63`. Null when the prefix is nothing but 0xFF.
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
