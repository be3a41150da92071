package org.sparkzorder.errors

import java.io.IOException
import java.net.URI

import org.apache.hadoop.fs.FSError
import org.apache.hadoop.hdfs.protocol.QuotaExceededException
import org.apache.spark.{SparkException, SparkThrowable}

/** Recognizes in Spark's exceptions that a file cannot be read. */
private[sparkzorder] object FailedRead {

  /** The file, and Spark's exception about it. In Spark 3.5 its condition has no name, but the same words. */
  def unapply(e: SparkException): Option[(String, Throwable)] =
    Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).take(50).collectFirst {
      case s: SparkThrowable
          if s.getMessage != null && s.getMessage.contains("error while reading file") &&
            s.getMessageParameters.containsKey("path") =>
        (new URI(s.getMessageParameters.get("path")).getPath, s.asInstanceOf[Throwable])
    }
}

/** Recognizes a full disk or a used-up quota in the exceptions of Spark and Hadoop. */
private[sparkzorder] object DiskFull {

  // Messages of the C libraries and of Windows, which the JDK passes on unchanged.
  private val phrases =
    Seq("No space left on device", "Disk quota exceeded", "File too large", "There is not enough space on the disk")

  /** The operating system's message, if the disk is full or a quota is used up. */
  def unapply(e: Throwable): Option[String] = {
    val chain = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(50).toVector
    chain.filter(isFull).lastOption.map(_.getMessage.linesIterator.take(1).mkString)
  }

  private def isFull(e: Throwable): Boolean = e match {
    case _: QuotaExceededException   => e.getMessage != null
    case _: IOException | _: FSError => Option(e.getMessage).exists(m => phrases.exists(m.contains))
    case _                           => false
  }
}
