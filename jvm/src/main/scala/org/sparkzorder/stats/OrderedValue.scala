package org.sparkzorder.stats

import java.lang.{Double => JDouble, Long => JLong}
import java.math.{BigDecimal => JBigDecimal, BigInteger, RoundingMode}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.compat.ByteArrays
import org.sparkzorder.shim.Collations

/**
 * Encodes Spark's values for statistics, as longs or byte strings in Spark's own order. For all x
 * and y of one type, `compare(encode(x), encode(y))` has the sign of Spark's ordering of x and y.
 * So -0.0 equals 0.0, and every NaN is the same value above infinity.
 */
object OrderedValue {

  /** How a type's values are encoded; None for a type without bounds. */
  def encoding(dt: DataType): Option[Encoding] = dt match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType | DateType |
        TimestampType | TimestampNTZType | _: DayTimeIntervalType | _: YearMonthIntervalType =>
      Some(Encoding.Longs)
    case d: DecimalType if d.scale >= 0 && d.scale <= d.precision =>
      Some(if (fitsLong(d)) Encoding.Longs else Encoding.Bytes)
    case s: StringType if isBinaryString(s) => Some(Encoding.Bytes)
    case BinaryType                         => Some(Encoding.Bytes)
    case other if isTime(other)             => Some(Encoding.Longs)
    case _                                  => None
  }

  /** Whether it is a string of valid UTF-8. Only then does it mean the same in characters and in bytes. */
  def isText(catalystValue: Any): Boolean = catalystValue match {
    case text: UTF8String => UTF8String.fromString(text.toString) == text
    case _                => false
  }

  /** Whether NaN is a value of the type. */
  def hasNaN(dt: DataType): Boolean = dt == FloatType || dt == DoubleType

  def isNaN(catalystValue: Any): Boolean = catalystValue match {
    case d: Double => d.isNaN
    case f: Float  => f.isNaN
    case _         => false
  }

  /**
   * Encodes a value in Catalyst's internal form as a `java.lang.Long` or an `Array[Byte]`, by [[encoding]].
   *
   * @throws IllegalArgumentException for null, a type without encoding, a value of another type, or
   *   a decimal that the type cannot hold exactly
   */
  def encode(dt: DataType, catalystValue: Any): Any = (dt, catalystValue) match {
    case (BooleanType, v: Boolean)                                   => JLong.valueOf(if (v) 1L else 0L)
    case (ByteType, v: Byte)                                         => JLong.valueOf(v.toLong)
    case (ShortType, v: Short)                                       => JLong.valueOf(v.toLong)
    case (IntegerType | DateType | _: YearMonthIntervalType, v: Int) => JLong.valueOf(v.toLong)
    case (LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType, v: Long) => JLong.valueOf(v)
    case (FloatType, v: Float)                                 => JLong.valueOf(ofDouble(v.toDouble))
    case (DoubleType, v: Double)                               => JLong.valueOf(ofDouble(v))
    case (d: DecimalType, v: Decimal) if encoding(d).isDefined =>
      val unscaled = unscaledAt(d, v)
      if (fitsLong(d)) JLong.valueOf(unscaled.longValueExact()) else ofBigInteger(unscaled)
    case (s: StringType, v: UTF8String) if isBinaryString(s) => v.getBytes
    case (BinaryType, v: Array[Byte])                        => v
    case (other, v: Long) if isTime(other)                   => JLong.valueOf(v)
    case _                                                   =>
      val what = if (catalystValue == null) "null" else catalystValue.getClass.getName
      throw new IllegalArgumentException(s"no order-preserving encoding of $what as ${dt.catalogString}")
  }

  /** The order of unsigned bytes. A string is before all longer strings that begin with it. */
  def compare(a: Array[Byte], b: Array[Byte]): Int = ByteArrays.compareUnsigned(a, b)

  val order: Ordering[Any] = (a: Any, b: Any) =>
    (a, b) match {
      case (x: JLong, y: JLong)             => x.compareTo(y)
      case (x: Array[Byte], y: Array[Byte]) => compare(x, y)
      case _ => throw new IllegalArgumentException("bounds of two encodings in one column")
    }

  /** A double as a long of the same order. Widen a float to double first, which is exact. */
  def ofDouble(v: Double): Long = {
    // doubleToLongBits makes all NaNs one; adding 0.0 turns -0.0 into 0.0.
    val bits = JDouble.doubleToLongBits(v + 0.0d)
    bits ^ ((bits >> 63) & Long.MaxValue)
  }

  /** The double that [[ofDouble]] was given, up to the sign of zero and the bits of NaN. */
  def toDouble(encoded: Long): Double = JDouble.longBitsToDouble(encoded ^ ((encoded >> 63) & Long.MaxValue))

  /** An unscaled value of more than 18 digits: 16 bytes of two's complement, big-endian, with the sign bit flipped. */
  def ofBigInteger(unscaled: BigInteger): Array[Byte] = {
    val bytes = unscaled.toByteArray
    if (bytes.length > WideDecimalBytes) throw new IllegalArgumentException(s"$unscaled does not fit 16 bytes")
    val out = new Array[Byte](WideDecimalBytes)
    if (unscaled.signum < 0) Arrays.fill(out, -1.toByte)
    System.arraycopy(bytes, 0, out, WideDecimalBytes - bytes.length, bytes.length)
    out(0) = (out(0) ^ 0x80).toByte
    out
  }

  /**
   * The Catalyst value of an encoded one.
   *
   * @throws IllegalArgumentException when `encoded` is not an encoded value of `dt`
   */
  def decode(dt: DataType, encoded: Any): Any = (dt, encoded) match {
    case (BooleanType, v: Long)                                                          => v != 0L
    case (ByteType, v: Long)                                                             => v.toByte
    case (ShortType, v: Long)                                                            => v.toShort
    case (IntegerType | DateType | _: YearMonthIntervalType, v: Long)                    => v.toInt
    case (LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType, v: Long) => v
    case (FloatType, v: Long)                                                            => toDouble(v).toFloat
    case (DoubleType, v: Long)                                                           => toDouble(v)
    case (d: DecimalType, v: Long) if fitsLong(d) => decimal(d, BigInteger.valueOf(v))
    case (d: DecimalType, v: Array[Byte]) if !fitsLong(d) && v.length == WideDecimalBytes =>
      val bytes = v.clone()
      bytes(0) = (bytes(0) ^ 0x80).toByte
      decimal(d, new BigInteger(bytes))
    case (s: StringType, v: Array[Byte]) if isBinaryString(s)                 => UTF8String.fromBytes(v)
    case (BinaryType, v: Array[Byte])                                         => v
    case (other, v: Long) if isTime(other) && v >= least(dt) && v <= most(dt) => v
    case _ => throw new IllegalArgumentException(s"not an encoded ${dt.catalogString}")
  }

  /**
   * An encoded value as text: as Spark casts it to string, timestamps in UTC, binary as `[61 62]`, null as "null".
   *
   * @throws IllegalArgumentException when `encoded` is not an encoded value of `dt`
   */
  def display(dt: DataType, encoded: Any): String = (dt, encoded) match {
    case (_, null)                                            => "null"
    case (BinaryType, v: Array[Byte])                         => v.map(b => f"$b%02X").mkString("[", " ", "]")
    case (s: StringType, v: Array[Byte]) if isBinaryString(s) => new String(v, UTF_8)
    case _ => String.valueOf(Cast(Literal(decode(dt, encoded), dt), StringType, Some("UTC")).eval())
  }

  /** The least long that encodes a value of the type. For most types any long does. */
  def least(dt: DataType): Long = if (isTime(dt)) 0L else Long.MinValue

  /** The greatest long that encodes a value of the type. */
  def most(dt: DataType): Long = if (isTime(dt)) NanosPerDay - 1 else Long.MaxValue

  private val NanosPerDay = 24L * 60 * 60 * 1000000000L

  private[stats] val WideDecimalBytes = 16

  private[stats] def fitsLong(d: DecimalType): Boolean = d.precision <= Decimal.MAX_LONG_DIGITS

  /** By the class name, since Spark 4.0 does not have the type. */
  private[sparkzorder] def isTime(dt: DataType): Boolean = dt.getClass.getName == "org.apache.spark.sql.types.TimeType"

  // CHAR and VARCHAR are also string types of the binary collation, and their values are ordinary strings.
  private def isBinaryString(s: StringType): Boolean = Collations.of(s) == Collations.Binary

  private[stats] def unscaledAt(d: DecimalType, v: Decimal): BigInteger = {
    val exact =
      try v.toJavaBigDecimal.setScale(d.scale, RoundingMode.UNNECESSARY)
      catch { case _: ArithmeticException => throw new IllegalArgumentException(s"$v is not a ${d.catalogString}") }
    if (exact.precision > d.precision) throw new IllegalArgumentException(s"$v is not a ${d.catalogString}")
    exact.unscaledValue
  }

  // An upper bound may have been rounded up to a value with more digits than the type, so the precision is not checked.
  private def decimal(d: DecimalType, unscaled: BigInteger): Decimal = Decimal(new JBigDecimal(unscaled, d.scale))
}

/**
 * Encodes the values of a key column for a layout: by [[OrderedValue]], with byte strings cut to
 * [[KeyEncoding.MaxBytes]] bytes, so that long values cannot fill up the sample and the broadcast.
 *
 * @throws IllegalArgumentException for a type that has no order
 */
final class KeyEncoding(val dataType: DataType) extends Serializable {

  val isLong: Boolean = OrderedValue.encoding(dataType) match {
    case Some(Encoding.Longs) => true
    case Some(Encoding.Bytes) => false
    case None => throw new IllegalArgumentException(s"${dataType.catalogString} has no order to cluster by")
  }

  /** Encodes a Catalyst value that is not null, of a type with longs. */
  def long(value: Any): Long = OrderedValue.encode(dataType, value).asInstanceOf[java.lang.Long].longValue

  /** Encodes a Catalyst value that is not null, of a type with byte strings. */
  def bytes(value: Any): Array[Byte] = value match {
    case v: Array[Byte] => KeyEncoding.cut(v)
    case v              => KeyEncoding.cut(OrderedValue.encode(dataType, v).asInstanceOf[Array[Byte]])
  }

  /** A decimal of at most 18 digits. It has the type's own scale unless a file says otherwise. */
  def decimal(value: Decimal): Long = dataType match {
    case d: DecimalType if value.scale == d.scale && value.precision <= Decimal.MAX_LONG_DIGITS => value.toUnscaledLong
    case _                                                                                      => long(value)
  }

  /** A Java expression of type `long` or `byte[]`, from that of a value that is not null. */
  def code(ctx: CodegenContext, value: String): String = {
    def self = ctx.addReferenceObj("keyEncoding", this, classOf[KeyEncoding].getName)
    dataType match {
      case BooleanType              => s"($value ? 1L : 0L)"
      case FloatType | DoubleType   => s"${KeyEncoding.orderedValue}.ofDouble((double) $value)"
      case _: DecimalType if isLong => s"$self.decimal($value)"
      case _: StringType            => s"${KeyEncoding.own}.cut($value)"
      case BinaryType               => s"${KeyEncoding.own}.cut($value)"
      case _ if isLong              => s"((long) $value)"
      case _                        => s"$self.bytes($value)"
    }
  }
}

object KeyEncoding {

  /** The number of bytes of a string or binary that a layout looks at. */
  val MaxBytes = 256

  private val own = KeyEncoding.getClass.getName.stripSuffix("$")
  private val orderedValue = OrderedValue.getClass.getName.stripSuffix("$")

  def cut(value: Array[Byte]): Array[Byte] = if (value.length <= MaxBytes) value else Arrays.copyOf(value, MaxBytes)

  def cut(value: UTF8String): Array[Byte] = cut(value.getBytes)
}
