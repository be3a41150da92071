package org.sparkzorder.write.preserve

import java.math.BigInteger

import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{LogicalTypeAnnotation, PrimitiveType}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.spark.sql.types.Decimal

/**
 * How a value of one Parquet type, made by Spark's writer, is stored as another type that Spark
 * reads as the same value.
 */
private[write] sealed trait Conversion

private[write] object Conversion {

  case object Same extends Conversion

  /** Stores instants or wall clocks in milliseconds. A finer value is an error; it is not rounded. */
  case object ToMillis extends Conversion

  /** Stores no value at all: the type is Parquet's type of columns that are null in every row. */
  case object OnlyNulls extends Conversion

  /** Stores whole numbers, which may be unscaled decimals. */
  final case class ToNumber(target: PrimitiveType) extends Conversion

  /** None when values could change, or when Spark would read the stored type as another type. */
  def between(spark: PrimitiveType, file: PrimitiveType): Option[Conversion] = {
    val (a, b) = (spark.getLogicalTypeAnnotation, file.getLogicalTypeAnnotation)
    val samePhysical = spark.getPrimitiveTypeName == file.getPrimitiveTypeName
    (a, b) match {
      case _ if samePhysical && a == b && lengthOf(spark) == lengthOf(file) => Some(Same)
      case (s: DecimalLogicalTypeAnnotation, f: DecimalLogicalTypeAnnotation)
          if s.getPrecision == f.getPrecision && s.getScale == f.getScale && isReadable(file, f.getPrecision) =>
        Some(ToNumber(file))
      case (null, f: IntLogicalTypeAnnotation)
          if spark.getPrimitiveTypeName == INT64 && !f.isSigned && f.getBitWidth == 32 => Some(ToNumber(file))
      case (s: TimestampLogicalTypeAnnotation, f: TimestampLogicalTypeAnnotation)
          if samePhysical && s.getUnit == TimeUnit.MICROS && f.getUnit == TimeUnit.MILLIS &&
            s.isAdjustedToUTC == f.isAdjustedToUTC => Some(ToMillis)
      case _ if samePhysical && isOfNulls(b)            => Some(OnlyNulls)
      case _ if samePhysical && isSameKind(spark, a, b) => Some(Same)
      case (null, null) if spark.getPrimitiveTypeName == BINARY && file.getPrimitiveTypeName == FIXED_LEN_BYTE_ARRAY =>
        Some(Same)
      case _ => None
    }
  }

  /** Not every version of parquet-java has a class for this type. */
  private def isOfNulls(annotation: LogicalTypeAnnotation): Boolean =
    annotation != null && annotation.toString == "UNKNOWN"

  /** Some writers (fastparquet) give lengths to types that have none. */
  def lengthOf(t: PrimitiveType): Int = if (t.getPrimitiveTypeName == FIXED_LEN_BYTE_ARRAY) t.getTypeLength else 0

  /** Spark's vectorized reader fails for shorter decimals in BINARY that are not in a dictionary. */
  private def isReadable(file: PrimitiveType, precision: Int): Boolean =
    file.getPrimitiveTypeName != BINARY || precision > Decimal.MAX_LONG_DIGITS

  /** Whether Spark reads both annotations as the same type. */
  private def isSameKind(spark: PrimitiveType, a: LogicalTypeAnnotation, b: LogicalTypeAnnotation): Boolean = {
    def width(annotation: LogicalTypeAnnotation): Option[(Int, Boolean)] = annotation match {
      case i: IntLogicalTypeAnnotation => Some((i.getBitWidth, i.isSigned))
      case null                        => Some((if (spark.getPrimitiveTypeName == INT64) 64 else 32, true))
      case _                           => None
    }
    spark.getPrimitiveTypeName match {
      case INT32 => (width(a), width(b)) match {
          case (Some((s, true)), Some((f, true)))  => s == f
          case (Some((s, true)), Some((f, false))) => s == 2 * f
          case _                                   => false
        }
      case INT64  => width(a).exists(w => width(b).contains(w))
      case BINARY => a match {
          case _: StringLogicalTypeAnnotation => b match {
              case null | _: StringLogicalTypeAnnotation | _: EnumLogicalTypeAnnotation | _: JsonLogicalTypeAnnotation =>
                true
              case _ => false
            }
          case null => b == null || b.isInstanceOf[BsonLogicalTypeAnnotation]
          case _    => false
        }
      case _ => false
    }
  }

  def bytesOf(number: BigInteger, target: PrimitiveType): Binary = {
    val shortest = number.toByteArray
    if (target.getPrimitiveTypeName == BINARY) Binary.fromConstantByteArray(shortest)
    else {
      val length = target.getTypeLength
      if (shortest.length > length) throw new ArithmeticException(s"a number of ${shortest.length} bytes for $target")
      val padded = Array.fill[Byte](length)(if (number.signum < 0) -1 else 0)
      System.arraycopy(shortest, 0, padded, length - shortest.length, shortest.length)
      Binary.fromConstantByteArray(padded)
    }
  }

  def fits(number: BigInteger, target: PrimitiveType): Boolean = {
    val bits = if (target.getPrimitiveTypeName == INT32) 32 else 64
    target.getLogicalTypeAnnotation match {
      case i: IntLogicalTypeAnnotation if !i.isSigned => number.signum >= 0 && number.bitLength <= bits
      case _                                          => number.bitLength < bits
    }
  }
}
