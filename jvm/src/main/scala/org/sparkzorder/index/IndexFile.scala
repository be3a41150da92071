package org.sparkzorder.index

import java.io.OutputStream
import java.nio.ByteBuffer
import java.nio.ByteOrder.LITTLE_ENDIAN
import java.util.{Arrays, BitSet}

import scala.collection.mutable

import org.sparkzorder.codec.Checksum
import org.sparkzorder.compat._
import org.sparkzorder.membership.MembershipBudget
import org.sparkzorder.stats.ColumnKey

/**
 * The `.zidx` format, version 1. It is a file of Parquet with a row for each data file, and any reader of Parquet can
 * open it:
 * {{{
 *   "PAR1"
 *   columns of each column of the table                          -- see ColumnPages, MembershipBlocks
 *   intervals of the curve, if a file has one                    -- see CurveIntervals
 *   the files' origins, if a file has one                        -- see FileOrigins
 *   the files' paths, lengths, times and rows                    -- see FileTable
 *   our footer                                                   -- JSON, see IndexFooter
 *   its length (4 bytes, big-endian), its CRC-32 (4 bytes), "ZORDIDX\n"
 *   the footer of Parquet, its length (4 bytes), "PAR1"
 * }}}
 * Each column is one page, see [[PlainPage]]. We read by our own footer, since that of Parquet has no checksum. Nothing
 * in a file is trusted: each size is checked before memory is allocated.
 */
object IndexFile {
  import IndexFooter.{Magic, ParquetMagic}

  private val SealSize = 8 + Magic.length
  private val ParquetTail = 4 + ParquetMagic.length
  // One read gets the footer, and the columns of files too if there are no more than some thousand.
  private val FirstRead = 256 * 1024

  /** Bytes in memory, for each file, of the largest column of numbers. */
  private val MostOfNumbers = 33L

  /** Writes an index without closing the stream. Behind so many bytes no more values of columns are written. */
  def write(out: OutputStream, contents: IndexContents, mostBytes: Long = MembershipBudget.ofIndex()): Unit = {
    val files = contents.files
    val to = new IndexWriter(out, files.files)
    val columns = IndexFooter.named(contents.columns.filter(isSameWhenRead(_)))
    val withMembers = contents.members.toSet
    val bounded = mutable.LinkedHashMap.empty[IndexedColumn, BitSet]
    columns.foreach { c =>
      val column = contents.column(c.key)
      ColumnPages.write(to, c.name, c.key.dataType, column)
      if (withMembers(c.key)) bounded(c) = column.stats.bounded
    }
    // What makes bounds unknown makes values unknown too, so values without bounds are not kept.
    bounded.foreach { case (c, known) =>
      MembershipBlocks.write(to, c.name, known, contents.membersOf(c.key), mostBytes)
    }
    CurveIntervals.write(to, contents.intervals, files.length(_))
    FileOrigins.write(to, contents.origins)
    files.write(to)
    to.end(IndexFooter(files.files, columns, contents.properties, contents.writers))
  }

  // The JSON of some types leaves something out.
  private def isSameWhenRead(key: ColumnKey): Boolean =
    TypeTexts.dataType(TypeTexts.of(key.dataType)).contains(key.dataType)

  /**
   * Reads the footer and the names of the files. Columns are read when they are first used.
   *
   * @param limit bytes that a single column may take in memory
   * @throws IndexFormatException when the file is not an index that this release can read
   * @throws java.io.IOException when it cannot be read at all
   */
  def open(source: BlockSource, limit: Long): IndexSnapshot =
    try {
      if (source.length < ParquetMagic.length + SealSize + ParquetTail)
        throw new IndexFormatException(s"${source.length} bytes are too few for an index")
      val end = new End(source)
      val footer = IndexFooter.parse(footerOf(end, limit), source.name)
      if (MostOfNumbers * footer.files > limit) throw new IndexFormatException(
        s"a column of ${footer.files} files takes more than the $limit bytes that it may take in memory"
      )
      new IndexSnapshot(new IndexReader(source, footer, limit), FileTable.read(new IndexReader(end, footer, limit)))
    } catch {
      case e: IndexFormatException =>
        throw new IndexFormatException(s"${source.name} is not a usable index: ${e.getMessage}", e)
    }

  /** The end of the file, read at once, and other parts as they are needed. */
  private final class End(source: BlockSource) extends BlockSource {
    def name: String = source.name
    val length: Long = source.length
    private val bytes = source.read(math.max(0L, length - FirstRead), math.min(length, FirstRead.toLong).toInt)

    def read(offset: Long, length: Int): Array[Byte] = {
      val from = offset - (this.length - bytes.length)
      if (from < 0) source.read(offset, length) else Arrays.copyOfRange(bytes, from.toInt, from.toInt + length)
    }
  }

  private def footerOf(end: BlockSource, limit: Long): Array[Byte] = {
    val parquet = end.read(end.length - ParquetTail, ParquetTail)
    if (!ByteArrays.equals(parquet, 4, ParquetTail, ParquetMagic, 0, ParquetMagic.length))
      throw new IndexFormatException("it does not end with the marker of an index")
    val at = end.length - ParquetTail - ByteBuffer.wrap(parquet).order(LITTLE_ENDIAN).getInt - SealSize
    if (at < ParquetMagic.length || at > end.length - SealSize)
      throw new IndexFormatException(s"a file of Parquet whose footer is not in its ${end.length} bytes")
    val seal = ByteBuffer.wrap(end.read(at, SealSize))
    val length = seal.getInt
    val crc = seal.getInt
    if (!ByteArrays.equals(seal.array, 8, SealSize, Magic, 0, Magic.length))
      throw new IndexFormatException("a file of Parquet that is no index")
    if (length < 0 || at - length < ParquetMagic.length || length > math.min(limit, IndexFooter.MaxBytes.toLong))
      throw new IndexFormatException(s"a footer of $length bytes in a file of ${end.length}")
    val json = end.read(at - length, length)
    if (Checksum.crc32(json).toInt != crc) throw new IndexFormatException("the footer has a wrong checksum")
    json
  }
}
