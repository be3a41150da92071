package org.sparkzorder.write.encode

import java.util.concurrent.atomic.AtomicBoolean

import org.apache.parquet.column.{ColumnDescriptor, Encoding, ParquetProperties}
import org.apache.parquet.column.Encoding.RLE_DICTIONARY
import org.apache.parquet.column.ParquetProperties.WriterVersion.PARQUET_1_0
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.factory._
import org.apache.parquet.column.values.fallback.FallbackValuesWriter
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.spark.sql.execution.datasources.OutputWriter
import org.apache.spark.sql.execution.datasources.parquet.ParquetOutputWriter
import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

/**
 * Makes a writer of Parquet keep to its own settings of dictionaries, use our own dictionaries, see
 * [[DictionaryValues]], and take rows column by column, see [[ColumnwiseWriter]].
 *
 * parquet-java's `DefaultValuesWriterFactory` has one factory for all files of a JVM, which follows the settings of the
 * file that was begun last. So a column for which this file turned the dictionary off may get one as soon as another
 * task begins a file.
 *
 * All this needs private fields of parquet-java. Where a version has others, or a Java does not let them be set,
 * Spark's writer writes the file alone. The log of each executor has one line about it.
 */
private[write] object OwnEncodings {

  /**
   * Must be called before the first row. Spark's writer of shredded variants makes its file only
   * when it has seen some rows, so it stays as it is.
   *
   * @param schema of the rows
   * @param own set if our own dictionaries are used, and rows are taken column by column
   */
  def of(writer: OutputWriter, schema: StructType, own: Option[FloatDictionaries]): RowWriter = writer match {
    case one: ParquetOutputWriter =>
      try {
        val records = new InternalRecordWriter(one)
        // The writers of the first row group were made by the shared factory.
        records.begin(dictionaries(records.properties, own))
        val fields = own.flatMap(_ => FieldWriters.of(schema, records.schema))
        fields.fold(RowWriter.of(writer))(new ColumnwiseWriter(one, records, _))
      } catch {
        case e: Exception if isOfOtherClasses(e) =>
          if (isTold.compareAndSet(false, true))
            log.warn(
              s"Spark's own writer writes ${one.path} and all other files, since parquet-java is not as expected: $e"
            )
          RowWriter.of(writer)
      }
    case other => RowWriter.of(other)
  }

  private def isOfOtherClasses(e: Exception): Boolean = e match {
    case _: NoSuchFieldException | _: NoSuchMethodException | _: IllegalAccessException => true
    // Java 8, for which the jar for Spark 3.5 is compiled, does not know its class.
    case _ => e.getClass.getName == "java.lang.reflect.InaccessibleObjectException"
  }

  private def dictionaries(settings: ParquetProperties, own: Option[FloatDictionaries]): ValuesWriterFactory = {
    val factory =
      if (settings.getWriterVersion == PARQUET_1_0) new DefaultV1ValuesWriterFactory
      else new DefaultV2ValuesWriterFactory
    factory.initialize(settings)
    own.fold[ValuesWriterFactory](factory)(new OwnDictionaries(factory, settings, _))
  }

  private val isTold = new AtomicBoolean
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))
}

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
