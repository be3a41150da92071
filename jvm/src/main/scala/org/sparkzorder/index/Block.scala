package org.sparkzorder.index

import java.io.IOException
import java.nio.ByteBuffer
import java.util.zip.CRC32

import com.github.luben.zstd.Zstd

import org.sparkzorder.compat.ZstdFrames

/**
 * Compressed bytes (zstd) in an index file, and then their CRC-32: a page of Parquet, or the values of a column in one
 * file. The checksum also depends on the file's random id: when a block is read, another index may have this name.
 */
private[index] object Block {
  // The JVM's arrays have a little less than 2^31 elements.
  val MaxSize: Long = Int.MaxValue - 1024L
  val CrcBytes = 4
  private val Level = 3

  def pack(id: String, raw: Array[Byte]): Array[Byte] = {
    val bytes = Zstd.compress(raw, Level)
    ByteBuffer.allocate(bytes.length + CrcBytes).put(bytes).putInt(crc(id, bytes, bytes.length)).array
  }

  private def crc(id: String, bytes: Array[Byte], length: Int): Int = {
    val sum = new CRC32
    sum.update(id.getBytes("UTF-8"))
    sum.update(bytes, 0, length)
    sum.getValue.toInt
  }

  /** The most bytes of a block in the file, if it has so many in memory. */
  def maxLength(limit: Long): Long = CrcBytes + Zstd.compressBound(math.min(limit, MaxSize))

  /**
   * @param limit bytes that the block may have in memory
   * @throws IndexFormatException when the bytes are not a block of the file with this id
   */
  def unpack(id: String, block: Array[Byte], limit: Long): Array[Byte] = {
    val length = block.length - CrcBytes
    if (length < 0 || crc(id, block, length) != ByteBuffer.wrap(block).getInt(length))
      throw new IndexFormatException("a block has a wrong checksum")
    // Checked before the array is made: a small block must not fill the memory.
    val size = ZstdFrames.contentSize(block, 0, length)
    if (size < 0 || size > math.min(limit, MaxSize)) throw new IndexFormatException(
      s"a block of $size bytes is more than the $limit that it may take in memory"
    )
    val raw = new Array[Byte](size.toInt)
    if (Zstd.decompressByteArray(raw, 0, raw.length, block, 0, length) != size)
      throw new IndexFormatException("a block cannot be decompressed")
    raw
  }
}

/** An index file that cannot be used: it is truncated, damaged, or of a newer format. */
final class IndexFormatException(message: String, cause: Throwable = null) extends IOException(message, cause)
