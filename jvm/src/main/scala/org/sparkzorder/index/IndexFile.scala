package org.sparkzorder.index

import java.io.OutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII
import java.util.{Arrays, UUID}

import org.sparkzorder.stats.ColumnKey

/**
 * The `.zidx` format, version 1:
 * {{{
 *   "ZORDIDX\n"
 *   a block per column, one with the files' parts of curves, if any has one        -- see Block, ColumnBlock, CurveIntervals
 *   one with the files' names, lengths, times and rows                             -- see FileTable
 *   footer                                                                         -- JSON, see IndexFooter
 *   length of the footer (4 bytes, big-endian), CRC-32 of the footer (4 bytes), "ZORDIDX\n"
 * }}}
 * Nothing in a file is trusted: every size is checked against the file, the number of files and the given limit before
 * memory is taken for it.
 */
object IndexFile {
  private val Magic = "ZORDIDX\n".getBytes(US_ASCII)
  private val TailSize = 8 + Magic.length
  // One read gets the footer and, of an index of some thousand files, the block of files too.
  private val FirstRead = 256 * 1024

  /** Writes an index; columns are made and forgotten one after the other. The stream is flushed, not closed. */
  def write(out: OutputStream, contents: IndexContents): Unit = {
    val uuid = UUID.randomUUID()
    val id = ByteBuffer.allocate(Block.IdSize)
      .putLong(uuid.getMostSignificantBits).putLong(uuid.getLeastSignificantBits).array
    var offset = 0L
    def put(bytes: Array[Byte]): Unit = {
      out.write(bytes)
      offset += bytes.length
    }
    def block(raw: Array[Byte]): Block = {
      val bytes = Block.pack(id, raw)
      val at = Block(offset, bytes.length, raw.length, Block.crc(bytes))
      put(bytes)
      at
    }
    put(Magic)
    val columns = contents.columns.filter(c => survives(c)).map { key =>
      IndexedColumn(key, block(ColumnBlock.write(key.dataType, contents.column(key))))
    }
    val files = contents.files
    val intervals = CurveIntervals.toRaw(contents.intervals, files.length(_)).map(block)
    val footer = IndexFooter(id, files.files, block(files.toRaw), columns, contents.properties, intervals).toJson
    require(footer.length <= IndexFooter.MaxBytes, s"${columns.length} columns are too many for an index")
    put(footer)
    put(ByteBuffer.allocate(8).putInt(footer.length).putInt(Block.crc(footer).toInt).array)
    put(Magic)
    out.flush()
  }

  // A type whose JSON says less than the type would come back as another.
  private def survives(key: ColumnKey): Boolean = {
    val (text, field) = IndexFooter.texts(key.dataType)
    IndexFooter.dataType(text, field).contains(key.dataType)
  }

  /**
   * Reads the footer and the names of the files; columns come when they are asked for.
   *
   * @param limit bytes that a single block may take in memory
   * @throws IndexFormatException when the file is not an index that this release can read
   * @throws java.io.IOException when it cannot be read at all
   */
  def open(source: BlockSource, limit: Long): IndexSnapshot =
    try {
      val size = source.length
      if (size < Magic.length + TailSize) throw new IndexFormatException(s"$size bytes are too few for an index")
      val tailLength = math.min(size, FirstRead.toLong).toInt
      val tailFrom = size - tailLength
      val tail = source.read(tailFrom, tailLength)
      def bytes(offset: Long, length: Int): Array[Byte] =
        if (offset < tailFrom) source.read(offset, length)
        else Arrays.copyOfRange(tail, (offset - tailFrom).toInt, (offset - tailFrom).toInt + length)

      val end = ByteBuffer.wrap(bytes(size - TailSize, TailSize))
      val (footerLength, footerCrc) = (end.getInt, end.getInt)
      if (!Arrays.equals(end.array, 8, TailSize, Magic, 0, Magic.length)) {
        throw new IndexFormatException("it does not end as an index does")
      }
      val footerFrom = size - TailSize - footerLength
      if (
        footerLength < 0 || footerFrom < Magic.length || footerLength > math.min(limit, IndexFooter.MaxBytes.toLong)
      ) {
        throw new IndexFormatException(s"a footer of $footerLength bytes in a file of $size")
      }
      val json = bytes(footerFrom, footerLength)
      if (Block.crc(json).toInt != footerCrc) throw new IndexFormatException("the footer has another checksum")
      val footer = IndexFooter.parse(json, footerFrom, limit, source.name)
      val at = footer.fileBlock
      val files = FileTable.fromRaw(footer.files, Block.unpack(footer.id, at, bytes(at.offset, at.length)))
      new IndexSnapshot(source, footer, files)
    } catch {
      case e: IndexFormatException =>
        throw new IndexFormatException(s"${source.name} is no usable index: ${e.getMessage}", e)
    }
}
