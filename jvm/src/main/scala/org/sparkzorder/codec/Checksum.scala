package org.sparkzorder.codec

import java.util.zip.CRC32

object Checksum {

  def crc32(bytes: Array[Byte]): Long = crc32(bytes, bytes.length)

  /** The CRC-32 of the first bytes. */
  def crc32(bytes: Array[Byte], length: Int): Long = {
    val sum = new CRC32
    sum.update(bytes, 0, length)
    sum.getValue
  }
}
