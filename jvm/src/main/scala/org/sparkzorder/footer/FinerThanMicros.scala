package org.sparkzorder.footer

/** Timestamps with digits below the microsecond, which Spark's type does not hold. */
private[footer] object FinerThanMicros {
  def is(nanos: Long): Boolean = nanos % 1000 != 0
}
