package org.sparkzorder.functions

import org.apache.spark.sql.types._

import org.sparkzorder.stats.{Encoding, OrderedValue}

/** Generated code for values that Spark holds as primitives: the long of [[OrderedValue]], without an object. */
private[functions] object OrderedLong {

  /** A Java expression of the long, given one of the value; None for a type that is not held as a primitive. */
  def code(dataType: DataType, value: String): Option[String] = dataType match {
    case BooleanType                                                    => Some(s"($value ? 1L : 0L)")
    case FloatType | DoubleType                                         => Some(s"$encoder.ofDouble((double) $value)")
    case _: DecimalType                                                 => None
    case other if OrderedValue.encoding(other).contains(Encoding.Longs) => Some(s"((long) $value)")
    case _                                                              => None
  }

  /** The bytes of [[OrderedBytes]], left-aligned in a long. A float has fewer bytes than its encoded double. */
  def leftAligned(dataType: DataType, value: String): Option[String] = dataType match {
    case FloatType => Some(s"${OrderedBytes.getClass.getName.stripSuffix("$")}.leftAlignedFloat($value)")
    case other     =>
      for (long <- code(other, value); width <- OrderedBytes.width(other))
        yield s"(($long << ${64 - 8 * width}) ^ Long.MIN_VALUE)"
  }

  private val encoder = OrderedValue.getClass.getName.stripSuffix("$")
}
