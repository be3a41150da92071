package org.sparkzorder.membership

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.Platform

/** The hashes that filters and sets of strings are made of. They are in files, so they must stay as they are. */
private[sparkzorder] object ValueHash {
  private val Seed = 42L

  def of(value: Long): Long = XXH64.hashLong(value, Seed)

  def of(bytes: Array[Byte]): Long = of(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length)

  def of(base: AnyRef, offset: Long, length: Int): Long = XXH64.hashUnsafeBytes(base, offset, length, Seed)
}
