package org.sparkzorder.shim

/** The minor version of Spark that this jar is compiled for. */
object SparkMinor {
  val compiledFor = "4.2"
}
