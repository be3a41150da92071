package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.shim.Collations
import org.sparkzorder.stats.{Encoding, OrderedValue}

/**
 * The SQL function `ordered_bytes`: bytes whose unsigned order is Spark's sort order of the values.
 *  - Numbers, dates, times and intervals have as many bytes as their type; decimals of more than 18 digits have 16.
 *  - Binary values, and strings of the binary collation, are not changed. Strings of other collations become their
 *    collation keys.
 *  - -0.0 becomes 0.0, and every NaN the same NaN.
 *  - Null gives null, which Spark sorts first.
 */
final case class OrderedBytes(child: Expression) extends UnaryExpression {
  override def dataType: DataType = BinaryType
  override def prettyName: String = "ordered_bytes"

  override def checkInputDataTypes(): TypeCheckResult =
    if (OrderedBytes.width(child.dataType).isDefined) TypeCheckResult.TypeCheckSuccess
    else WrongArgument.hasType("first", WrongArgument.OrderedTypes, child)

  override protected def nullSafeEval(value: Any): Any = OrderedBytes.of(child.dataType, value)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val own = OrderedBytes.getClass.getName.stripSuffix("$")
    defineCodeGen(
      ctx,
      ev,
      v =>
        child.dataType match {
          case BooleanType    => s"$own.ofLong($v ? 1L : 0L, 1)"
          case FloatType      => s"$own.ofFloat($v)"
          case DoubleType     => s"$own.ofDouble($v)"
          case BinaryType     => v
          case NullType       => "null"
          case s: StringType  => s"$own.ofString($v, ${Collations.of(s)})"
          case d: DecimalType => s"$own.ofDecimal($v, ${d.precision}, ${d.scale})"
          case other          => s"$own.ofLong((long) $v, ${OrderedBytes.width(other).get})"
        }
    )
  }

  override protected def withNewChildInternal(newChild: Expression): OrderedBytes = copy(newChild)
}

object OrderedBytes {

  /**
   * The bytes of a value of the type; 0 if they depend on the value, or it is always null. None for a type without
   * order.
   */
  def width(dataType: DataType): Option[Int] = dataType match {
    case BooleanType | ByteType                                        => Some(1)
    case ShortType                                                     => Some(2)
    case IntegerType | DateType | FloatType | _: YearMonthIntervalType => Some(4)
    case _: StringType | BinaryType | NullType                         => Some(0)
    case d: DecimalType => Some(if (d.precision <= Decimal.MAX_LONG_DIGITS) 8 else 16)
    case other if OrderedValue.encoding(other).contains(Encoding.Longs) => Some(8)
    case _                                                              => None
  }

  private[functions] def of(dataType: DataType, value: Any): Array[Byte] = (dataType, value) match {
    case (BooleanType, v: Boolean)      => ofLong(if (v) 1L else 0L, 1)
    case (FloatType, v: Float)          => ofFloat(v)
    case (DoubleType, v: Double)        => ofDouble(v)
    case (BinaryType, v: Array[Byte])   => v
    case (s: StringType, v: UTF8String) => ofString(v, Collations.of(s))
    case (d: DecimalType, v: Decimal)   => ofDecimal(v, d.precision, d.scale)
    case (other, v: Number)             => ofLong(v.longValue, width(other).get)
    case (other, v) => throw new IllegalArgumentException(s"${v.getClass.getName} is no ${other.catalogString}")
  }

  /** The low bytes of a number, big-endian, sign bit flipped. */
  def ofLong(value: Long, width: Int): Array[Byte] = {
    val out = new Array[Byte](width)
    putLong(value, out)
    out
  }

  /** The same as [[ofLong]], but written to an array. */
  private[sparkzorder] def putLong(value: Long, out: Array[Byte]): Unit =
    if (out.length == 8) InterleaveTables.putLong(out, 0, value ^ Long.MinValue)
    else {
      var i = out.length - 1
      var rest = value
      while (i >= 0) {
        out(i) = rest.toByte
        rest >>= 8
        i -= 1
      }
      out(0) = (out(0) ^ 0x80).toByte
    }

  def ofFloat(value: Float): Array[Byte] = ofLong(orderedFloat(value).toLong, 4)

  /** The bytes of [[ofFloat]], left-aligned in a long. */
  def leftAlignedFloat(value: Float): Long = (orderedFloat(value).toLong << 32) ^ Long.MinValue

  private def orderedFloat(value: Float): Int = {
    val bits = java.lang.Float.floatToIntBits(value + 0.0f)
    bits ^ ((bits >> 31) & Int.MaxValue)
  }

  def ofDouble(value: Double): Array[Byte] = ofLong(OrderedValue.ofDouble(value), 8)

  def ofDecimal(value: Decimal, precision: Int, scale: Int): Array[Byte] =
    OrderedValue.encode(DecimalType(precision, scale), value) match {
      case v: java.lang.Long => ofLong(v, 8)
      case v                 => v.asInstanceOf[Array[Byte]]
    }

  def ofString(value: UTF8String, collationId: Int): Array[Byte] =
    if (collationId == Collations.Binary) value.getBytes
    else Collations.sortKey(value, collationId)

  /** The bytes that stand for null in an interleaved value: the smallest ones of the type's width. */
  private[functions] def smallest(dataType: DataType): Array[Byte] = new Array[Byte](width(dataType).getOrElse(0))
}

/** Generates code that encodes values as the longs of [[OrderedValue]], without allocating objects. */
private[functions] object OrderedLong {

  /** A Java expression of the long, from that of the value. None if Spark does not store the type as a primitive. */
  def code(dataType: DataType, value: String): Option[String] = dataType match {
    case BooleanType                                                    => Some(s"($value ? 1L : 0L)")
    case FloatType | DoubleType                                         => Some(s"$encoder.ofDouble((double) $value)")
    case _: DecimalType                                                 => None
    case other if OrderedValue.encoding(other).contains(Encoding.Longs) => Some(s"((long) $value)")
    case _                                                              => None
  }

  /**
   * A Java expression of the bytes of [[OrderedBytes]], left-aligned in a long. Floats need a rule of their own: they
   * have fewer bytes than the double that they are encoded as.
   */
  def leftAligned(dataType: DataType, value: String): Option[String] = dataType match {
    case FloatType => Some(s"${OrderedBytes.getClass.getName.stripSuffix("$")}.leftAlignedFloat($value)")
    case other     =>
      for (long <- code(other, value); width <- OrderedBytes.width(other))
        yield s"(($long << ${64 - 8 * width}) ^ Long.MIN_VALUE)"
  }

  private val encoder = OrderedValue.getClass.getName.stripSuffix("$")
}
