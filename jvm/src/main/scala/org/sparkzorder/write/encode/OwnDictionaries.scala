package org.sparkzorder.write.encode

import org.apache.parquet.column.{ColumnDescriptor, Encoding, ParquetProperties}
import org.apache.parquet.column.Encoding.RLE_DICTIONARY
import org.apache.parquet.column.ParquetProperties.WriterVersion.PARQUET_1_0
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.factory.ValuesWriterFactory
import org.apache.parquet.column.values.fallback.FallbackValuesWriter
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/**
 * Makes the writers of values that parquet-java makes, with other dictionaries, see [[DictionaryValues]].
 *
 * @param floats columns that parquet-java gives no dictionary, although the settings ask for one
 */
private[encode] final class OwnDictionaries(
    of: ValuesWriterFactory,
    properties: ParquetProperties,
    floats: FloatDictionaries
) extends ValuesWriterFactory {

  override def initialize(own: ParquetProperties): Unit = of.initialize(own)

  override def newValuesWriter(column: ColumnDescriptor): ValuesWriter = of.newValuesWriter(column) match {
    case f: FallbackValuesWriter[_, _] => withDictionary(column, f.fallBackWriter, f.initialWriter.getEncoding, f)
    case plain if floats.has(column)   => withDictionary(column, plain, ofNumbers, plain)
    case other                         => other
  }

  /** The encoding of pages with numbers of a dictionary. */
  private def ofNumbers: Encoding =
    if (properties.getWriterVersion == PARQUET_1_0) Encoding.valueOf("PLAIN_DICTIONARY") else RLE_DICTIONARY

  private def withDictionary(
      column: ColumnDescriptor,
      plain: ValuesWriter,
      pages: Encoding,
      otherwise: ValuesWriter
  ): ValuesWriter = {
    val primitive = column.getPrimitiveType
    primitive.getPrimitiveTypeName match {
      case INT32  => new IntDictionary(plain, pages, properties)
      case INT64  => new LongDictionary(plain, pages, properties)
      case FLOAT  => new FloatDictionary(plain, pages, properties, floats.mayHaveZero(column))
      case DOUBLE => new DoubleDictionary(plain, pages, properties, floats.mayHaveZero(column))
      case BINARY => new BytesDictionary(None, plain, pages, properties)
      // In pages of version 1 parquet-java has no dictionaries of them.
      case FIXED_LEN_BYTE_ARRAY if properties.getWriterVersion != PARQUET_1_0 =>
        new BytesDictionary(Some(primitive.getTypeLength), plain, pages, properties)
      case INT96 => new BytesDictionary(Some(12), plain, pages, properties)
      case _     => otherwise
    }
  }
}
