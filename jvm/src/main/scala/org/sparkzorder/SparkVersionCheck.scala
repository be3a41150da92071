package org.sparkzorder

import org.apache.spark.SPARK_VERSION

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.shim.SparkMinor

/**
 * Whether the jar fits the Spark that runs it. One for another minor version loads, and may even rewrite a table; it fails
 * later, with a `NoSuchMethodError`, wherever it calls what is different there.
 */
private[sparkzorder] object SparkVersionCheck {

  private val Minor = """^(\d+\.\d+)(?:\D.*)?$""".r

  /** A version may have a vendor's name behind it, as in `4.1.0-amzn-0`. */
  def fits(running: String): Boolean = running match {
    case Minor(minor) => minor == SparkMinor.compiledFor
    case _            => false
  }

  def check(): Unit = if (!fits(SPARK_VERSION)) throw ZOrderErrors.wrongJar(SparkMinor.compiledFor, SPARK_VERSION)
}
