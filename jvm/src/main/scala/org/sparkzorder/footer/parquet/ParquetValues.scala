package org.sparkzorder.footer.parquet

import java.math.{BigDecimal => JBigDecimal, BigInteger}

import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Turns a bound of a Parquet footer into a value of the table's type. Pure. */
private[footer] object ParquetValues {

  /** From parquet-java's value to Catalyst's; None if the table's type cannot hold it. Monotone where defined. */
  type Decoder = Any => Option[Any]

  /** None when the types do not fit, or the order of the bounds is not that of the table's type. */
  def decoder(table: DataType, file: PrimitiveType): Option[Decoder] = {
    val annotation = file.getLogicalTypeAnnotation
    (table, file.getPrimitiveTypeName) match {
      case (BooleanType, BOOLEAN) if annotation == null =>
        Some { case v: java.lang.Boolean => Some(v.booleanValue); case _ => None }
      case (ByteType | ShortType | IntegerType | LongType | DoubleType, INT32) =>
        signedBits(annotation, 32).flatMap(ofInt32(table, _))
      case (LongType, INT64) if signedBits(annotation, 64).contains(64) => Some(long(identity))
      case (_: YearMonthIntervalType, INT32) if annotation == null      => Some(int(identity))
      case (_: DayTimeIntervalType, INT64) if annotation == null        => Some(long(identity))
      case (FloatType, FLOAT)   => Some { case v: java.lang.Float if !v.isNaN => Some(v.floatValue); case _ => None }
      case (DoubleType, FLOAT)  => Some { case v: java.lang.Float if !v.isNaN => Some(v.doubleValue); case _ => None }
      case (DoubleType, DOUBLE) => Some { case v: java.lang.Double if !v.isNaN => Some(v.doubleValue); case _ => None }
      case (DateType, INT32) if annotation.isInstanceOf[DateLogicalTypeAnnotation]         => Some(int(identity))
      case (TimestampType | TimestampNTZType, INT64)                                       => instant(table, annotation)
      case (d: DecimalType, INT32 | INT64 | BINARY | FIXED_LEN_BYTE_ARRAY)                 => decimal(d, file)
      case (_: StringType, BINARY) if annotation.isInstanceOf[StringLogicalTypeAnnotation] =>
        Some { case v: Binary => Some(UTF8String.fromBytes(v.getBytes)); case _ => None }
      case _ => None
    }
  }

  private def signedBits(annotation: Any, physical: Int): Option[Int] = annotation match {
    case null                                      => Some(physical)
    case i: IntLogicalTypeAnnotation if i.isSigned => Some(i.getBitWidth)
    case _                                         => None
  }

  private def ofInt32(table: DataType, bits: Int): Option[Decoder] = table match {
    case ByteType if bits <= 8   => Some(int(_.toByte, Byte.MinValue, Byte.MaxValue))
    case ShortType if bits <= 16 => Some(int(_.toShort, Short.MinValue, Short.MaxValue))
    case IntegerType             => Some(int(identity))
    case LongType                => Some(int(_.toLong))
    case DoubleType              => Some(int(_.toDouble))
    case _                       => None
  }

  private def int(f: Int => Any, least: Int = Int.MinValue, most: Int = Int.MaxValue): Decoder = {
    case v: java.lang.Integer if v >= least && v <= most => Some(f(v))
    case _                                               => None
  }

  private def long(f: Long => Any): Decoder = {
    case v: java.lang.Long => Some(f(v))
    case _                 => None
  }

  private def instant(table: DataType, annotation: Any): Option[Decoder] = annotation match {
    // Spark reads local times as instants but refuses to read instants as local times.
    case t: TimestampLogicalTypeAnnotation if table == TimestampType || !t.isAdjustedToUTC =>
      t.getUnit match {
        case TimeUnit.MICROS => Some(long(identity))
        case TimeUnit.MILLIS => Some {
            case v: java.lang.Long if math.abs(v / 1000) < Long.MaxValue / 1000000 => Some(v * 1000L)
            case _                                                                 => None
          }
        case _ => None
      }
    case _ => None
  }

  private def decimal(table: DecimalType, file: PrimitiveType): Option[Decoder] =
    file.getLogicalTypeAnnotation match {
      case d: DecimalLogicalTypeAnnotation if d.getScale == table.scale && d.getPrecision <= table.precision =>
        Some {
          case v: java.lang.Integer      => unscaled(table, d.getPrecision, BigInteger.valueOf(v.longValue))
          case v: java.lang.Long         => unscaled(table, d.getPrecision, BigInteger.valueOf(v))
          case v: Binary if v.length > 0 => unscaled(table, d.getPrecision, new BigInteger(v.getBytes))
          case _                         => None
        }
      case _ => None
    }

  /** @param digits most in the file */
  private def unscaled(table: DecimalType, digits: Int, v: BigInteger): Option[Any] = {
    val number = new JBigDecimal(v, table.scale)
    if (number.precision > math.min(digits, table.precision)) None
    else Some(Decimal(number, table.precision, table.scale))
  }
}
