package org.sparkzorder.stats

import org.apache.spark.unsafe.types.UTF8String

/**
 * The least and the greatest of byte strings in unsigned order. Only the first
 * [[ByteBounds.MaxLength]] bytes of each are looked at: v <= w implies prefix(v) <= prefix(w), so the
 * extremes of the prefixes are the prefixes of the extremes. The greatest value is longer than its
 * prefix if any value with that prefix is.
 *
 * This runs for each string that is written, so only new extremes are copied.
 */
private[stats] final class ByteRange {
  private var min: UTF8String = _
  private var max: UTF8String = _
  private var maxCut = false

  /** Adds the `length` bytes at an address as [[org.apache.spark.unsafe.Platform]] gives them. */
  def add(base: AnyRef, offset: Long, length: Int): Unit = {
    val n = math.min(length, ByteBounds.MaxLength)
    val v = UTF8String.fromAddress(base, offset, n)
    val c = if (max == null) 1 else v.compareTo(max)
    if (c > 0) {
      max = v.copy()
      maxCut = length > n
    } else if (c == 0) maxCut |= length > n
    if (min == null) min = max
    else if (c < 0 && v.compareTo(min) < 0) min = v.copy()
  }

  /** There are no bounds before the first value, and none if the greatest has no short upper bound. */
  def result(nulls: Long): ColumnStats = {
    val upper = if (max == null) null else if (maxCut) ByteBounds.after(max.getBytes) else max.getBytes
    if (upper == null) ColumnStats(null, null, nulls, 0L) else ColumnStats(min.getBytes, upper, nulls, 0L)
  }
}
