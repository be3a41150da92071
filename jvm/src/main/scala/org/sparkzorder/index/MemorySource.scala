package org.sparkzorder.index

import java.io.EOFException
import java.util.Arrays

/** An index that is in no file. */
final class MemorySource(val name: String, bytes: Array[Byte]) extends BlockSource {
  def length: Long = bytes.length.toLong

  def read(offset: Long, length: Int): Array[Byte] =
    if (offset < 0 || offset + length > bytes.length)
      throw new EOFException(s"$name ends before byte ${offset + length}")
    else Arrays.copyOfRange(bytes, offset.toInt, offset.toInt + length)
}
