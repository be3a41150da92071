package org.sparkzorder.footer.parquet

import java.nio.ByteOrder

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.column.{ColumnDescriptor, EncodingStats}
import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.column.page.DictionaryPageReadStore
import org.apache.parquet.example.DummyRecordConverter
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnPath}
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, Type}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT96

import org.sparkzorder.compat._
import org.sparkzorder.footer.TimestampSearch

/** INT96 timestamps as a Parquet file stores them: nanoseconds of the day, then the day. */
private[footer] object Int96Values {

  /** The first column with a value that is not a whole number of microseconds, by its names in the file. */
  def firstFiner(conf: Configuration, file: FileStatus): Option[Seq[String]] = {
    val options = HadoopReadOptions.builder(conf, file.getPath).build()
    val reader = ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf), options)
    try {
      val schema = reader.getFileMetaData.getSchema
      val columns = schema.getColumns.asScala.toVector.filter(_.getPrimitiveType.getPrimitiveTypeName == INT96)
      val createdBy = reader.getFileMetaData.getCreatedBy
      reader.getRowGroups.asScala.iterator.zipWithIndex.filter(_._1.getRowCount > 0)
        .flatMap { case (block, i) =>
          columns.iterator.filter(c =>
            dictionaryIsFiner(reader, block, c).getOrElse(valuesAreFiner(reader, i, c, createdBy))
          )
        }
        .nextOption().map(_.getPath.toSeq)
    } finally reader.close()
  }

  /** The answer of the dictionary where all pages use it; None where other pages have to be read. */
  private def dictionaryIsFiner(
      reader: ParquetFileReader,
      block: BlockMetaData,
      of: ColumnDescriptor
  ): Option[Boolean] = {
    val chunk = block.getColumns.asScala.find(_.getPath == ColumnPath.get(of.getPath: _*))
    val usesItAlone = (stats: EncodingStats) => stats.hasDictionaryPages && !stats.hasNonDictionaryEncodedPages
    lazy val dictionaries: DictionaryPageReadStore = reader.getDictionaryReader(block)
    chunk.filter(c => Option(c.getEncodingStats).exists(usesItAlone))
      .flatMap(_ => Option(dictionaries.readDictionaryPage(of))).map { page =>
        val dictionary = page.getEncoding.initDictionary(of, page)
        (0 to dictionary.getMaxId).exists(id => isFiner(dictionary.decodeToBinary(id)))
      }
  }

  private def valuesAreFiner(
      reader: ParquetFileReader,
      rowGroup: Int,
      column: ColumnDescriptor,
      createdBy: String
  ): Boolean = {
    val projection = only(reader.getFileMetaData.getSchema, column)
    reader.setRequestedSchema(projection)
    val pages = reader.readRowGroup(rowGroup)
    try {
      val converter = new DummyRecordConverter(projection).getRootConverter
      val values = new ColumnReadStoreImpl(pages, converter, projection, createdBy).getColumnReader(column)
      val defined = column.getMaxDefinitionLevel
      var left = pages.getPageReader(column).getTotalValueCount
      var found = false
      while (left > 0 && !found) {
        if (values.getCurrentDefinitionLevel == defined) found = isFiner(values.getBinary)
        values.consume()
        left -= 1
      }
      found
    } finally pages.close()
  }

  private def only(schema: MessageType, column: ColumnDescriptor): MessageType =
    new MessageType(schema.getName, keep(schema.getFields.asScala.toVector, column.getPath.toList): _*)

  private def keep(fields: Seq[Type], path: List[String]): Seq[Type] =
    fields.filter(_.getName == path.head).map { field =>
      if (field.isPrimitive) field
      else {
        val group = field.asGroupType
        group.withNewFields(keep(group.getFields.asScala.toVector, path.tail).asJava)
      }
    }

  private def isFiner(value: Binary): Boolean =
    TimestampSearch.isFiner(value.toByteBuffer.order(ByteOrder.LITTLE_ENDIAN).getLong())
}
