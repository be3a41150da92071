package org.sparkzorder.skipping

import java.util.concurrent.atomic.AtomicLong

/** How often skipping gave up with an error in this JVM: a bug that turns skipping off must not go unseen. Tests assert 0. */
object SkippingErrors {
  private val counter = new AtomicLong
  private[skipping] def count(): Unit = { counter.incrementAndGet(); () }
  def total: Long = counter.get
}
