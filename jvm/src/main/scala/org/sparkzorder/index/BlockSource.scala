package org.sparkzorder.index

import java.io.IOException

/** The bytes of an index file, which are read when they are needed. Safe for use by many threads. */
trait BlockSource {

  /** For messages. */
  def name: String

  def length: Long

  /** @throws java.io.IOException when these bytes cannot be read */
  @throws[IOException]
  def read(offset: Long, length: Int): Array[Byte]
}
