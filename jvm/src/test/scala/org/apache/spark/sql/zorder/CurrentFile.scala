package org.apache.spark.sql.zorder

import org.apache.spark.rdd.InputFileBlockHolder

/** Sets what Spark's readers set when they open a part of a file. */
object CurrentFile {
  def set(path: String, start: Long, length: Long): Unit = InputFileBlockHolder.set(path, start, length)
  def unset(): Unit = InputFileBlockHolder.unset()
}
