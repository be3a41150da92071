package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.util.CollationFactory
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/** The collations of strings, by Spark's numbers. */
object Collations {
  val Binary: Int = StringType.collationId

  def of(dataType: StringType): Int = dataType.collationId

  /** Bytes that compare as the collation compares the strings. */
  def sortKey(value: UTF8String, collation: Int): Array[Byte] = CollationFactory.getCollationKeyBytes(value, collation)
}
