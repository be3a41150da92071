package org.sparkzorder.index

import com.github.luben.zstd.Zstd

import org.sparkzorder.codec.Checksum
import org.sparkzorder.compat.{ByteArrays, ZstdFrames}

/**
 * Where a block is in an index file.
 *
 * @param offset position of its first byte
 * @param length its bytes in the file: the file's id, then compressed data (zstd)
 * @param rawLength its bytes after decompression
 * @param crc CRC-32 of its bytes in the file
 */
private[index] final case class Block(offset: Long, length: Int, rawLength: Int, crc: Long)

private[index] object Block {
  val IdSize = 16
  private val Level = 3

  /**
   * The bytes of a block in the file. They begin with the file's id. A block is read by the file's
   * name, long after the footer: by then another index may have this name, and its blocks must not
   * be taken for ours.
   */
  def pack(id: Array[Byte], raw: Array[Byte]): Array[Byte] = id ++ Zstd.compress(raw, Level)

  /** The most bytes that a block of so many bytes in memory may have in the file. */
  def maxLength(rawLength: Long): Long = IdSize + Zstd.compressBound(rawLength)

  /**
   * @param blocksEnd the first byte behind all blocks
   * @param limit bytes that the block may have in memory
   * @throws IndexFormatException for a block that cannot be in the file
   */
  def checked(offset: Long, length: Long, rawLength: Long, crc: Long, blocksEnd: Long, limit: Long): Block = {
    if (offset < 0 || length < IdSize || length > Int.MaxValue || offset > blocksEnd - length) {
      throw new IndexFormatException(s"a block at $offset of $length bytes is outside of the file")
    }
    if (rawLength < 0 || rawLength > math.min(limit, RawBytes.MaxSize)) {
      throw new IndexFormatException(s"a block of $rawLength bytes is more than the $limit that it may take in memory")
    }
    if (length > maxLength(rawLength)) {
      throw new IndexFormatException(s"a block of $length bytes cannot hold only $rawLength")
    }
    Block(offset, length.toInt, rawLength.toInt, crc)
  }

  /** @throws IndexFormatException when the bytes are not those that the footer was written for */
  def unpack(id: Array[Byte], block: Block, bytes: Array[Byte]): Array[Byte] = {
    def bad(why: String) = throw new IndexFormatException(s"the block at ${block.offset} $why")
    if (bytes.length != block.length || Checksum.crc32(bytes) != block.crc) bad("has a wrong checksum")
    if (!ByteArrays.equals(bytes, 0, IdSize, id, 0, IdSize)) bad("belongs to another index")
    // Checked before the array is made: a broken footer must not fill the memory.
    if (ZstdFrames.contentSize(bytes, IdSize, bytes.length - IdSize) != block.rawLength) bad("has a wrong size")
    val raw = new Array[Byte](block.rawLength)
    val got = Zstd.decompressByteArray(raw, 0, raw.length, bytes, IdSize, bytes.length - IdSize)
    if (got != raw.length) bad("cannot be decompressed")
    raw
  }
}
