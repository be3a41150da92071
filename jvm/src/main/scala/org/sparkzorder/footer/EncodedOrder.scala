package org.sparkzorder.footer

import org.sparkzorder.stats.{ByteBounds, ColumnStats, OrderedValue}

/** The order of two encoded bounds of one column. */
private[sparkzorder] object EncodedOrder {
  def compare(a: Any, b: Any): Int = (a, b) match {
    case (x: Long, y: Long)               => java.lang.Long.compare(x, y)
    case (x: Array[Byte], y: Array[Byte]) => OrderedValue.compare(x, y)
    case _                                => throw new IllegalArgumentException("bounds of two encodings")
  }
  def min(a: Any, b: Any): Any = if (compare(a, b) <= 0) a else b

  /** Statistics of a column without NaN, with byte bounds cut to the usual length. */
  def stats(min: Any, max: Any, nullCount: Long): ColumnStats = (min, max) match {
    case (lo: Array[Byte], hi: Array[Byte]) =>
      val upper = ByteBounds.upper(hi)
      if (upper == null) ColumnStats(null, null, nullCount, 0L)
      else ColumnStats(ByteBounds.lower(lo), upper, nullCount, 0L)
    case _ => ColumnStats(min, max, nullCount, 0L)
  }

  def max(a: Any, b: Any): Any = if (compare(a, b) >= 0) a else b
}
