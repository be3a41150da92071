package org.sparkzorder.errors

import java.io.IOException

import org.apache.hadoop.fs.FSError
import org.apache.hadoop.hdfs.protocol.QuotaExceededException

/** Finds the full disk or the used-up quota behind what Spark and Hadoop make of it. */
private[sparkzorder] object DiskFull {

  // Of the C libraries and of Windows: the JDK hands them on as they are.
  private val phrases =
    Seq("No space left on device", "Disk quota exceeded", "File too large", "There is not enough space on the disk")

  /** The system's own words, if that is what went wrong. */
  def unapply(e: Throwable): Option[String] = {
    val chain = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(50).toSeq
    chain.filter(isFull).lastOption.map(_.getMessage.linesIterator.take(1).mkString)
  }

  private def isFull(e: Throwable): Boolean = e match {
    case _: QuotaExceededException   => e.getMessage != null
    case _: IOException | _: FSError => Option(e.getMessage).exists(m => phrases.exists(m.contains))
    case _                           => false
  }
}
