package org.sparkzorder.index

import java.io.{ByteArrayOutputStream, OutputStream}
import java.nio.ByteBuffer
import java.nio.ByteOrder.LITTLE_ENDIAN
import java.util.{ArrayList, BitSet, Collections, EnumSet, HashMap, UUID}

import org.apache.parquet.column.Encoding.{PLAIN, RLE}
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.format.{DataPageHeader, Encoding, PageHeader, PageType, Util}
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.metadata._
import org.apache.parquet.schema.{MessageType, PrimitiveType, Type, Types}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64

import org.sparkzorder.codec.{Checksum, Json}

/**
 * Writes the columns of an index file one after the other, and at its end our footer and that of Parquet, see
 * [[IndexFile]]. All columns are optional.
 */
private[index] final class IndexWriter(out: OutputStream, val files: Int) {
  private val id = UUID.randomUUID().toString
  private val places = Json.newObject()
  private val schema = new ArrayList[Type]
  private val rows = new BlockMetaData
  rows.setRowCount(files.toLong)
  private var offset = 0L
  put(IndexFooter.ParquetMagic)

  private def put(bytes: Array[Byte]): Unit = {
    out.write(bytes)
    offset += bytes.length
  }

  def size: Long = offset

  /** Bytes that are in no column. */
  def block(raw: Array[Byte]): Unit = put(Block.pack(id, raw))

  /** @param raw what [[PlainPage]] makes of the values */
  def column(of: PrimitiveType, raw: Array[Byte]): Unit = {
    val block = Block.pack(id, raw)
    val compressed = block.length - Block.CrcBytes
    val page = new PageHeader(PageType.DATA_PAGE, raw.length, compressed)
      .setData_page_header(new DataPageHeader(files, Encoding.PLAIN, Encoding.RLE, Encoding.RLE))
    val header = new ByteArrayOutputStream
    Util.writePageHeader(page, header)
    schema.add(of)
    rows.addColumn(ColumnChunkMetaData.get(
      ColumnPath.get(of.getName),
      of,
      CompressionCodecName.ZSTD,
      null,
      EnumSet.of(PLAIN, RLE),
      Statistics.createStats(of),
      offset,
      0L,
      files.toLong,
      header.size.toLong + compressed,
      header.size.toLong + raw.length
    ))
    put(header.toByteArray)
    places.putArray(of.getName).add(offset).add(block.length)
    put(block)
  }

  def numbers(name: String, has: BitSet, value: Int => Long): Unit =
    column(Types.optional(INT64).named(name), PlainPage.longs(files, has, value))

  /**
   * Parts that several files share: a column with the number of each file's part, and one with the part in the first
   * row of its number.
   *
   * @param of the number of each file's part, -1 for none. The first file of a number comes after those of lower ones
   */
  def shared(number: String, part: PrimitiveType, of: Array[Int], parts: IndexedSeq[Array[Byte]]): Unit = {
    numbers(number, PlainPage.where(files)(of(_) >= 0), of(_).toLong)
    var known = -1
    val first = PlainPage.where(files) { i =>
      val isNew = of(i) > known
      known = math.max(known, of(i))
      isNew
    }
    column(part, PlainPage.bytes(files, first, i => parts(of(i))))
  }

  def end(footer: IndexFooter): Unit = {
    val json = footer.copy(id = id, places = places).toJson
    require(json.length <= IndexFooter.MaxBytes, s"${footer.columns.length} columns are too many for an index")
    put(json)
    put(ByteBuffer.allocate(8).putInt(json.length).putInt(Checksum.crc32(json).toInt).array)
    put(IndexFooter.Magic)
    val from = offset
    // No row group is without rows.
    val groups = if (files == 0) Collections.emptyList[BlockMetaData] else Collections.singletonList(rows)
    val meta = new FileMetaData(new MessageType("index", schema), new HashMap[String, String], "spark-zorder")
    val parquet = new ByteArrayOutputStream
    val converted = new ParquetMetadataConverter().toParquetMetadata(1, new ParquetMetadata(meta, groups))
    Util.writeFileMetaData(converted, parquet)
    put(parquet.toByteArray)
    put(ByteBuffer.allocate(4).order(LITTLE_ENDIAN).putInt((offset - from).toInt).array)
    put(IndexFooter.ParquetMagic)
    out.flush()
  }
}
