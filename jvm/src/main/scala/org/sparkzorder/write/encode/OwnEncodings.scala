package org.sparkzorder.write.encode

import org.apache.parquet.column.ParquetProperties.WriterVersion.PARQUET_1_0
import org.apache.parquet.column.values.factory.{DefaultV1ValuesWriterFactory, DefaultV2ValuesWriterFactory}
import org.apache.spark.sql.execution.datasources.OutputWriter
import org.apache.spark.sql.execution.datasources.parquet.ParquetOutputWriter
import org.apache.spark.sql.types.StructType

/**
 * Makes a writer of Parquet keep to its own settings of dictionaries, use our own dictionaries, see [[DictionaryValues]],
 * and take rows column by column, see [[ColumnwiseWriter]].
 *
 * parquet-java's `DefaultValuesWriterFactory` has one factory for all files of a JVM, which follows
 * the settings of the file that was begun last. So a column for which this file turned the
 * dictionary off may get one as soon as another task begins a file.
 */
private[write] object OwnEncodings {

  /**
   * Must be called before the first row. Spark's writer of shredded variants makes its file only
   * when it has seen some rows, so it stays as it is.
   *
   * @param schema of the rows
   */
  def of(writer: OutputWriter, schema: StructType): RowWriter = writer match {
    case one: ParquetOutputWriter =>
      val records = new InternalRecordWriter(one)
      ownDictionaries(records)
      FieldWriters.of(schema, records.schema).fold(RowWriter.of(writer))(new ColumnwiseWriter(one, records, _))
    case other => RowWriter.of(other)
  }

  private def ownDictionaries(records: InternalRecordWriter): Unit = {
    val settings = records.properties
    val factory =
      if (settings.getWriterVersion == PARQUET_1_0) new DefaultV1ValuesWriterFactory
      else new DefaultV2ValuesWriterFactory
    factory.initialize(settings)
    InternalRecordWriter.set(settings, "valuesWriterFactory", new OwnDictionaries(factory, settings))
    // The writers of the first row group were made by the shared factory.
    records.begin()
  }
}
