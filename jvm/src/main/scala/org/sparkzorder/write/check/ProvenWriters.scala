package org.sparkzorder.write.check

import java.math.BigInteger
import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.crypto.EncryptionPropertiesFactory
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType, Type}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition.REPEATED
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.execution.datasources.parquet.{ParquetFileFormat, SparkToParquetSchemaConverter}
import org.apache.spark.sql.types._

import org.sparkzorder.write.preserve.{KeptParquet, ListShape, PreservedMetadata}

/**
 * Says which files a test has shown to hold what their writer got: Parquet files of Spark's own
 * writer, with the types and encodings that Spark writes by default. All other files are read back,
 * see [[ReadBack]]. The tests are listed in `docs/what-a-rewrite-keeps.md`.
 */
private[write] object ProvenWriters {

  /**
   * Why new files have to be read back; empty if they have not.
   *
   * @param kept with the schema of the files, if it is not Spark's
   * @param conf settings of the writer
   */
  def unproven(
      session: SparkSession,
      format: FileFormat,
      schema: StructType,
      kept: Option[PreservedMetadata],
      conf: Configuration
  ): Seq[String] = (format, kept) match {
    case (_: ParquetFileFormat, None)                 => parquet(session, schema, None, conf)
    case (_: ParquetFileFormat, Some(k: KeptParquet)) => parquet(session, schema, k.schema, conf)
    case _                                            => Seq(s"the writer of $format")
  }

  private def parquet(
      session: SparkSession,
      schema: StructType,
      kept: Option[MessageType],
      conf: Configuration
  ): Seq[String] = {
    val written = kept.getOrElse(new SparkToParquetSchemaConverter(session.sessionState.conf).convert(schema))
    unprovenSettings(conf.asScala.map(e => e.getKey -> e.getValue).toMap) ++ unprovenTypes(schema) ++ unprovenFields(
      written,
      Nil
    )
  }

  /** @param settings of the writer */
  private[write] def unprovenSettings(settings: Map[String, String]): Seq[String] = {
    def upper(key: String) = settings.get(key).map(_.trim.toUpperCase(Locale.ROOT))
    // A setting for one column has the column's name after a #.
    def isOn(key: String) =
      settings.exists { case (k, v) => (k == key || k.startsWith(s"$key#")) && !v.trim.equalsIgnoreCase("false") }
    Seq(
      "encryption" -> settings.contains(EncryptionPropertiesFactory.CRYPTO_FACTORY_CLASS_PROPERTY_NAME),
      "pages of version 2" -> upper("parquet.writer.version").exists(!FirstVersion(_)),
      "byte stream split" -> isOn("parquet.enable.bytestreamsplit"),
      "the codec" -> upper("parquet.compression").exists(!Codecs(_))
    ).collect { case (what, true) => what }
  }

  /** Types whose values Spark's writer changes into those of another type. */
  private[write] def unprovenTypes(schema: StructType): Seq[String] =
    schema.filterNot(f => isProven(f.dataType)).map(f => quoteNameParts(Seq(f.name)))

  private def isProven(t: DataType): Boolean = t match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType      => true
    case _: DecimalType | _: StringType | BinaryType | DateType | TimestampType | TimestampNTZType => true
    case s: StructType => s.forall(f => isProven(f.dataType))
    case a: ArrayType  => isProven(a.elementType)
    case m: MapType    => isProven(m.keyType) && isProven(m.valueType)
    case _             => false
  }

  /** Fields of a Parquet schema whose types or encodings no test covers. */
  private[write] def unprovenFields(group: GroupType, path: Seq[String]): Seq[String] =
    group.getFields.asScala.toVector.flatMap(f => unprovenField(f, path :+ f.getName))

  private def unprovenField(field: Type, path: Seq[String]): Seq[String] = {
    def unproven = Seq(quoteNameParts(path))
    if (field.isRepetition(REPEATED)) unproven
    else if (field.isPrimitive) if (isProven(field.asPrimitiveType)) Nil else unproven
    else (field.getLogicalTypeAnnotation, ListShape.of(field)) match {
      case (null, _)                                          => unprovenFields(field.asGroupType, path)
      case (_, Some((ListShape.ThreeLevels, element)))        => unprovenField(element, path)
      case (_: MapLogicalTypeAnnotation, _) if isPairs(field) =>
        unprovenFields(field.asGroupType.getType(0).asGroupType, path)
      case _ => unproven
    }
  }

  private def isPairs(map: Type): Boolean = {
    val fields = map.asGroupType.getFields.asScala
    fields.size == 1 && fields.head.isRepetition(REPEATED) && !fields.head.isPrimitive &&
    fields.head.asGroupType.getFieldCount == 2
  }

  private def isProven(t: PrimitiveType): Boolean = (t.getPrimitiveTypeName, t.getLogicalTypeAnnotation) match {
    case (BOOLEAN | INT32 | INT64 | INT96 | FLOAT | DOUBLE | BINARY, null) => true
    case (BINARY, _: StringLogicalTypeAnnotation)                          => true
    case (INT32, _: DateLogicalTypeAnnotation)                             => true
    case (INT32 | INT64, i: IntLogicalTypeAnnotation)                      => i.isSigned
    case (INT64, i: TimestampLogicalTypeAnnotation)                        => i.getUnit != TimeUnit.NANOS
    case (INT32, d: DecimalLogicalTypeAnnotation)                          => d.getPrecision <= Decimal.MAX_INT_DIGITS
    case (INT64, d: DecimalLogicalTypeAnnotation)                          => isLong(d.getPrecision)
    case (FIXED_LEN_BYTE_ARRAY, d: DecimalLogicalTypeAnnotation)           =>
      d.getPrecision > Decimal.MAX_LONG_DIGITS && t.getTypeLength == bytesOf(d.getPrecision)
    case _ => false
  }

  private def isLong(precision: Int): Boolean =
    precision > Decimal.MAX_INT_DIGITS && precision <= Decimal.MAX_LONG_DIGITS

  /** How many bytes a decimal takes with its sign. */
  private def bytesOf(precision: Int): Int = BigInteger.TEN.pow(precision).bitLength / 8 + 1

  private val FirstVersion = Set("V1", "PARQUET_1_0")
  private val Codecs = Set("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD")
}
