package org.sparkzorder.stats

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Encodes the values of a key column for a layout: by [[OrderedValue]], with byte strings cut to
 * [[KeyEncoding.MaxBytes]] bytes, so that long values cannot fill up the sample and the broadcast.
 *
 * @throws IllegalArgumentException for a type that has no order
 */
final class KeyEncoding(val dataType: DataType) extends Serializable {

  /** Whether encoded values are longs and not byte strings. */
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
