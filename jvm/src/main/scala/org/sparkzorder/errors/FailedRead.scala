package org.sparkzorder.errors

import java.net.URI

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
