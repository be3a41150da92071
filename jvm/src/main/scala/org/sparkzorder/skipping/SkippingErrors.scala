package org.sparkzorder.skipping

import java.util.concurrent.atomic.AtomicLong

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.CommitException
import org.sparkzorder.index.IndexFormatException

/** How often skipping gave up with an error in this JVM: a bug that turns skipping off must not go unseen. Tests assert 0. */
object SkippingErrors extends Logging {
  private val counter = new AtomicLong

  /** A query must not fail for want of a shortcut; what is lost is speed, and the log says so. */
  private[skipping] def warn(paths: Seq[Path], e: Throwable): Unit = {
    // Our own messages name the file that is to blame and hold no data; of others' nobody knows.
    val why = e match {
      case _: CommitException | _: IndexFormatException => e.getMessage
      case _                                            => e.getClass.getSimpleName
    }
    logWarning(s"No files are skipped for ${paths.mkString(", ")}: $why", e)
    counter.incrementAndGet()
    ()
  }

  def total: Long = counter.get
}
