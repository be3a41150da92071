package org.sparkzorder.write.encode

import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.column.ParquetProperties.WriterVersion.PARQUET_1_0
import org.apache.parquet.column.values.factory.{DefaultV1ValuesWriterFactory, DefaultV2ValuesWriterFactory}
import org.apache.spark.sql.execution.datasources.OutputWriter
import org.apache.spark.sql.execution.datasources.parquet.ParquetOutputWriter

/**
 * Makes a writer of Parquet keep to its own settings of dictionaries, and look up many values at once, see
 * [[BatchedFactory]].
 *
 * parquet-java's `DefaultValuesWriterFactory` has one factory for all files of a JVM, which follows
 * the settings of the file that was begun last. So a column for which this file turned the
 * dictionary off may get one as soon as another task begins a file.
 */
private[write] object OwnEncodings {

  /**
   * Must be called before the first row. Spark's writer of shredded variants makes its file only
   * when it has seen some rows, so it stays with the shared factory.
   */
  def use(writer: OutputWriter): Unit = writer match {
    case one: ParquetOutputWriter => own(one)
    case _                        => ()
  }

  private def own(writer: ParquetOutputWriter): Unit = {
    val records = get(get(writer, "recordWriter"), "internalWriter")
    val settings = get(records, "props").asInstanceOf[ParquetProperties]
    val factory =
      if (settings.getWriterVersion == PARQUET_1_0) new DefaultV1ValuesWriterFactory
      else new DefaultV2ValuesWriterFactory
    factory.initialize(settings)
    field(settings, "valuesWriterFactory").set(settings, new BatchedFactory(factory))
    // The writers of the first row group were made by the shared factory.
    val begin = records.getClass.getDeclaredMethod("initStore")
    begin.setAccessible(true)
    begin.invoke(records)
    ()
  }

  private def get(from: AnyRef, name: String): AnyRef = field(from, name).get(from)

  private def field(of: AnyRef, name: String) = {
    val found = of.getClass.getDeclaredField(name)
    found.setAccessible(true)
    found
  }
}
