package org.sparkzorder.shim

import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/** Spark 3.5 has no collations: all strings are compared by their bytes. */
object Collations {
  val Binary: Int = 0

  def of(dataType: StringType): Int = Binary

  def sortKey(value: UTF8String, collation: Int): Array[Byte] = value.getBytes
}
