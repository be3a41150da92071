package org.sparkzorder.write.encode

import org.apache.parquet.column.{ColumnDescriptor, ParquetProperties}
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.factory.ValuesWriterFactory
import org.apache.parquet.column.values.fallback.FallbackValuesWriter
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/** Makes the writers of values that parquet-java makes, with other dictionaries, see [[DictionaryValues]]. */
private[encode] final class OwnDictionaries(of: ValuesWriterFactory, properties: ParquetProperties)
    extends ValuesWriterFactory {

  override def initialize(own: ParquetProperties): Unit = of.initialize(own)

  override def newValuesWriter(column: ColumnDescriptor): ValuesWriter = of.newValuesWriter(column) match {
    case f: FallbackValuesWriter[_, _] =>
      val (plain, pages) = (f.fallBackWriter, f.initialWriter.getEncoding)
      val primitive = column.getPrimitiveType
      primitive.getPrimitiveTypeName match {
        case INT32                => new IntDictionary(plain, pages, properties)
        case INT64                => new LongDictionary(plain, pages, properties)
        case FLOAT                => new FloatDictionary(plain, pages, properties)
        case DOUBLE               => new DoubleDictionary(plain, pages, properties)
        case BINARY               => new BytesDictionary(None, plain, pages, properties)
        case FIXED_LEN_BYTE_ARRAY => new BytesDictionary(Some(primitive.getTypeLength), plain, pages, properties)
        case INT96                => new BytesDictionary(Some(12), plain, pages, properties)
        case _                    => f
      }
    case other => other
  }
}
