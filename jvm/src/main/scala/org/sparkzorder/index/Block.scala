package org.sparkzorder.index

import java.util.Arrays
import java.util.zip.CRC32

import com.github.luben.zstd.Zstd

/**
 * Where a block lies in an index file.
 *
 * @param offset of its first byte
 * @param length bytes in the file: the file's id, then a frame of zstd
 * @param rawLength bytes after decompression
 * @param crc CRC-32 of the bytes in the file
 */
private[index] final case class Block(offset: Long, length: Int, rawLength: Int, crc: Long)

private[index] object Block {
  val IdSize = 16
  private val Level = 3

  /**
   * The bytes of a block in the file. They begin with the file's id since blocks are read long after the footer, by
   * name: by then another index may have taken the name, and its blocks must not pass for ours.
   */
  def pack(id: Array[Byte], raw: Array[Byte]): Array[Byte] = id ++ Zstd.compress(raw, Level)

  /** Bytes in the file of a block of so many in memory, at most. */
  def maxLength(rawLength: Long): Long = IdSize + Zstd.compressBound(rawLength)

  /** @throws IndexFormatException when the bytes are not those that the footer was written for */
  def unpack(id: Array[Byte], block: Block, bytes: Array[Byte]): Array[Byte] = {
    def bad(why: String) = throw new IndexFormatException(s"the block at ${block.offset} $why")
    if (bytes.length != block.length || crc(bytes) != block.crc) bad("has another checksum")
    if (!Arrays.equals(bytes, 0, IdSize, id, 0, IdSize)) bad("belongs to another index")
    // Before the array is made: what the frame itself says must agree.
    if (Zstd.getFrameContentSize(bytes, IdSize, bytes.length - IdSize) != block.rawLength) bad("has another size")
    val raw = new Array[Byte](block.rawLength)
    val got = Zstd.decompressByteArray(raw, 0, raw.length, bytes, IdSize, bytes.length - IdSize)
    if (got != raw.length) bad("cannot be decompressed")
    raw
  }

  def crc(bytes: Array[Byte]): Long = {
    val crc = new CRC32
    crc.update(bytes)
    crc.getValue
  }
}
