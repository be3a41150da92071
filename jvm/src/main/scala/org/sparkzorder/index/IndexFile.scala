package org.sparkzorder.index

import java.io.OutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII
import java.util.{Arrays, BitSet, UUID}

import scala.collection.mutable

import org.slf4j.LoggerFactory

import org.sparkzorder.codec.Checksum
import org.sparkzorder.compat.ByteArrays
import org.sparkzorder.membership.{MemberBudget, MembershipFormat}
import org.sparkzorder.stats.ColumnKey

/**
 * The `.zidx` format, version 1:
 * {{{
 *   "ZORDIDX\n"
 *   a block for each column                                      -- see Block, ColumnBlock
 *   a block for each file, for each column of which values are kept, and one that
 *   tells where these are                                        -- see MemberBlocks
 *   a block of intervals of the curve, if a file has one         -- see CurveIntervals
 *   a block of the files' origins, if a file has one             -- see FileOrigins
 *   a block of the files' names, lengths, times and rows         -- see FileTable
 *   footer                                                       -- JSON, see IndexFooter
 *   length of the footer (4 bytes, big-endian), CRC-32 of the footer (4 bytes), "ZORDIDX\n"
 * }}}
 * Nothing in a file is trusted. Before memory is allocated, each size is checked against the size
 * of the file, the number of files and the given limit.
 */
object IndexFile {
  private val Magic = "ZORDIDX\n".getBytes(US_ASCII)
  private val TailSize = 8 + Magic.length
  // One read gets the footer, and the block of files too if there are no more than some thousand.
  private val FirstRead = 256 * 1024

  private val log = LoggerFactory.getLogger(IndexFile.getClass)

  /**
   * Writes an index, one column after the other. The stream is flushed, but not closed.
   *
   * @param mostBytes behind so many bytes, no more values of columns are written
   */
  def write(out: OutputStream, contents: IndexContents, mostBytes: Long = MemberBudget.ofIndex()): Unit = {
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
      val at = Block(offset, bytes.length, raw.length, Checksum.crc32(bytes))
      put(bytes)
      at
    }
    put(Magic)
    val files = contents.files
    val withMembers = contents.members.toSet
    val bounded = mutable.HashMap.empty[ColumnKey, BitSet]
    val columns = contents.columns.filter(c => isSameWhenRead(c)).map { key =>
      val column = contents.column(key)
      if (withMembers(key)) bounded(key) = column.stats.bounded
      IndexedColumn(key, block(ColumnBlock.write(key.dataType, column)))
    }
    // What makes bounds unknown makes values unknown too, so values without bounds are not kept.
    val members = for (key <- contents.members; known <- bounded.get(key)) yield {
      val filters = new BitSet
      val valuesOf = contents.membersOf(key)
      val blocks = Array.tabulate(files.files) { i =>
        if (!known.get(i) || offset > mostBytes) null
        else
          valuesOf(i).map { raw =>
            if (MembershipFormat.isFilter(raw)) filters.set(i)
            block(raw)
          }.orNull
      }
      if (offset > mostBytes) log.warn(s"The index keeps the values of ${key.path.mkString(".")} only for " +
        s"${blocks.count(_ != null)} of ${files.files} files: it would have more than $mostBytes bytes")
      IndexedColumn(key, block(MemberPlaces.toRaw(MemberPlaces(blocks, filters))))
    }
    val intervals = CurveIntervals.toRaw(contents.intervals, files.length(_)).map(block)
    val origins = FileOrigins.toRaw(contents.origins).map(block)
    val footer =
      IndexFooter(id, files.files, block(files.toRaw), columns, contents.properties, intervals, origins, members)
        .copy(writers = contents.writers).toJson
    require(footer.length <= IndexFooter.MaxBytes, s"${columns.length} columns are too many for an index")
    put(footer)
    put(ByteBuffer.allocate(8).putInt(footer.length).putInt(Checksum.crc32(footer).toInt).array)
    put(Magic)
    out.flush()
  }

  // Whether the type is the same when it is read back: the JSON of some types leaves something out.
  private def isSameWhenRead(key: ColumnKey): Boolean = {
    val (text, field) = TypeTexts.of(key.dataType)
    TypeTexts.dataType(text, field).contains(key.dataType)
  }

  /**
   * Reads the footer and the names of the files. Columns are read when they are first used.
   *
   * @param limit bytes that a single block may take in memory
   * @throws IndexFormatException when the file is not an index that this release can read
   * @throws java.io.IOException when it cannot be read at all
   */
  def open(source: BlockSource, limit: Long): IndexSnapshot =
    try {
      val size = source.length
      if (size < Magic.length + TailSize) throw new IndexFormatException(s"$size bytes are too few for an index")
      val bytes = new BytesWithTail(source)
      val at = footerOf(bytes, limit)
      val json = bytes.read(at.offset, at.length)
      if (Checksum.crc32(json).toInt != at.crc) throw new IndexFormatException("the footer has a wrong checksum")
      val footer = IndexFooter.parse(json, blocksEnd = at.offset, limit, source.name)
      val block = footer.fileBlock
      val files =
        FileTable.fromRaw(footer.files, Block.unpack(footer.id, block, bytes.read(block.offset, block.length)))
      new IndexSnapshot(source, footer, files)
    } catch {
      case e: IndexFormatException =>
        throw new IndexFormatException(s"${source.name} is not a usable index: ${e.getMessage}", e)
    }

  /** The end of the file, read at once, and other parts as they are needed. */
  private final class BytesWithTail(source: BlockSource) {
    val size: Long = source.length
    private val tailLength = math.min(size, FirstRead.toLong).toInt
    private val tailFrom = size - tailLength
    private val tail = source.read(tailFrom, tailLength)

    def read(offset: Long, length: Int): Array[Byte] =
      if (offset < tailFrom) source.read(offset, length)
      else Arrays.copyOfRange(tail, (offset - tailFrom).toInt, (offset - tailFrom).toInt + length)
  }

  private final case class FooterPosition(offset: Long, length: Int, crc: Int)

  private def footerOf(bytes: BytesWithTail, limit: Long): FooterPosition = {
    val end = ByteBuffer.wrap(bytes.read(bytes.size - TailSize, TailSize))
    val length = end.getInt
    val crc = end.getInt
    if (!ByteArrays.equals(end.array, 8, TailSize, Magic, 0, Magic.length)) {
      throw new IndexFormatException("it does not end with the marker of an index")
    }
    val offset = bytes.size - TailSize - length
    if (length < 0 || offset < Magic.length || length > math.min(limit, IndexFooter.MaxBytes.toLong)) {
      throw new IndexFormatException(s"a footer of $length bytes in a file of ${bytes.size}")
    }
    FooterPosition(offset, length, crc)
  }
}
