package org.sparkzorder.functions

import org.apache.spark.sql.types._

import org.sparkzorder.stats.{Encoding, OrderedValue}

/**
 * Generates code that encodes values as the longs of [[OrderedValue]], without allocating objects.
 */
private[functions] object OrderedLong {

  /**
   * A Java expression of the long, from an expression of the value. None if Spark does not store
   * the type as a primitive.
   */
  def code(dataType: DataType, value: String): Option[String] = dataType match {
    case BooleanType                                                    => Some(s"($value ? 1L : 0L)")
    case FloatType | DoubleType                                         => Some(s"$encoder.ofDouble((double) $value)")
    case _: DecimalType                                                 => None
    case other if OrderedValue.encoding(other).contains(Encoding.Longs) => Some(s"((long) $value)")
    case _                                                              => None
  }

  /**
   * A Java expression of the bytes of [[OrderedBytes]], left-aligned in a long. Floats need a rule
   * of their own: they have fewer bytes than the double that they are encoded as.
   */
  def leftAligned(dataType: DataType, value: String): Option[String] = dataType match {
    case FloatType => Some(s"${OrderedBytes.getClass.getName.stripSuffix("$")}.leftAlignedFloat($value)")
    case other     =>
      for (long <- code(other, value); width <- OrderedBytes.width(other))
        yield s"(($long << ${64 - 8 * width}) ^ Long.MIN_VALUE)"
  }

  private val encoder = OrderedValue.getClass.getName.stripSuffix("$")
}
