package org.sparkzorder.write.encode

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{MessageType, Type}
import org.apache.parquet.schema.LogicalTypeAnnotation.{TimeUnit, TimestampLogicalTypeAnnotation}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition.REPEATED
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import org.sparkzorder.compat._

/** Which [[FieldWriter]] the fields of a table get. */
private[encode] object FieldWriters {

  /** None if a type is not covered, and Spark's writer has to take the rows. */
  def of(schema: StructType, written: MessageType): Option[Array[FieldWriter]] =
    if (schema.length != written.getFieldCount) None
    else {
      val found = schema.fields.toSeq.zip(written.getFields.asScala).map { case (f, t) => writer(f.dataType, t) }
      Option.when(found.nonEmpty && found.forall(_.isDefined))(found.flatten.toArray)
    }

  private def writer(dataType: DataType, written: Type): Option[FieldWriter] =
    if (!written.isPrimitive || written.isRepetition(REPEATED) || isOfNulls(written)) None
    else
      (dataType, written.asPrimitiveType.getPrimitiveTypeName) match {
        case (IntegerType | _: YearMonthIntervalType, INT32) => Some(FieldWriter.int(_.getInt(_)))
        case (DateType, INT32) if isCorrected(SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key) =>
          Some(FieldWriter.int(_.getInt(_)))
        case (ShortType, INT32) => Some(FieldWriter.int(_.getShort(_).toInt))
        case (ByteType, INT32)  => Some(FieldWriter.int(_.getByte(_).toInt))
        case (d: DecimalType, INT32) if d.precision <= Decimal.MAX_INT_DIGITS =>
          Some(FieldWriter.int(_.getLong(_).toInt))
        case (d: DecimalType, INT64) if d.precision <= Decimal.MAX_LONG_DIGITS               => Some(FieldWriter.Long)
        case (d: DecimalType, FIXED_LEN_BYTE_ARRAY) if d.precision > Decimal.MAX_LONG_DIGITS =>
          Some(FieldWriter.decimal(written.asPrimitiveType.getTypeLength))
        case (LongType | _: DayTimeIntervalType, INT64)     => Some(FieldWriter.Long)
        case (TimestampNTZType, INT64) if isMicros(written) => Some(FieldWriter.Long)
        case (TimestampType, INT64)
            if isMicros(written) && isCorrected(SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key) => Some(FieldWriter.Long)
        case (TimestampType, INT96) if isCorrected(SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE.key) =>
          Some(FieldWriter.int96)
        case (FloatType, FLOAT)                   => Some(FieldWriter.Float)
        case (DoubleType, DOUBLE)                 => Some(FieldWriter.Double)
        case (BooleanType, BOOLEAN)               => Some(FieldWriter.Boolean)
        case (_: StringType | BinaryType, BINARY) => Some(FieldWriter.Bytes)
        case _                                    => None
      }

  /** Whether days and instants are written as they are. */
  private def isCorrected(key: String): Boolean = "CORRECTED".equalsIgnoreCase(SQLConf.get.getConfString(key, null))

  private def isMicros(t: Type): Boolean = t.getLogicalTypeAnnotation match {
    case ts: TimestampLogicalTypeAnnotation => ts.getUnit == TimeUnit.MICROS
    case _                                  => false
  }

  /** Such a column refuses values. Not every version of parquet-java has a class for this type. */
  private def isOfNulls(t: Type): Boolean =
    t.getLogicalTypeAnnotation != null && t.getLogicalTypeAnnotation.toString == "UNKNOWN"
}
