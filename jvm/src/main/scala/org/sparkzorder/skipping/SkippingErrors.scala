package org.sparkzorder.skipping

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.CommitException
import org.sparkzorder.index.IndexFormatException

/** Counts how often skipping gave up with an error in this JVM, so that a bug cannot turn it off unnoticed. */
object SkippingErrors extends Logging {
  private val counter = new AtomicLong

  /** Logs and counts an error that only costs speed: the query reads all files. */
  private[sparkzorder] def warn(paths: Seq[Path], e: Throwable): Unit = {
    // Our own messages name the faulty file and hold no data. Other messages might hold data.
    val why = e match {
      case _: CommitException | _: IndexFormatException => e.getMessage
      case _                                            => e.getClass.getSimpleName
    }
    logWarning(s"No files are skipped for ${paths.mkString(", ")}: $why", e)
    counter.incrementAndGet()
    ()
  }

  /** Counts a scan with filters in a session that lost our strategy. The first one of this process is logged. */
  private[skipping] def withoutStrategy(): Unit = {
    if (counted.compareAndSet(false, true))
      logWarning("No files are skipped, since spark.experimental.extraStrategies was assigned. Add to what is there")
    counter.incrementAndGet()
    ()
  }

  private val counted = new AtomicBoolean

  def total: Long = counter.get
}
