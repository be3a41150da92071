package org.sparkzorder.predicate

import java.lang.{Double => JDouble, Float => JFloat}
import java.math.BigInteger

import org.apache.spark.sql.types._

/**
 * All values of a type in ascending order, each with an ordinal. Values that Spark takes for equal
 * may have several ordinals, as -0.0 and 0.0 have.
 *
 * @param first the least ordinal
 * @param last the greatest ordinal
 * @param at the value with an ordinal
 */
private[predicate] final case class DiscreteDomain(first: BigInteger, last: BigInteger, at: BigInteger => Any)

private[predicate] object DiscreteDomain {

  /** None for a type without order, and for one whose values cannot be numbered. */
  def of(dataType: DataType): Option[DiscreteDomain] = dataType match {
    case ByteType                                    => Some(longs(Byte.MinValue, Byte.MaxValue, _.toByte))
    case ShortType                                   => Some(longs(Short.MinValue, Short.MaxValue, _.toShort))
    case IntegerType | DateType                      => Some(longs(Int.MinValue, Int.MaxValue, _.toInt))
    case LongType | TimestampType | TimestampNTZType => Some(longs(Long.MinValue, Long.MaxValue, identity))
    // As integers, the bits of positive numbers ascend, those of negative ones descend. The next
    // one after infinity is a NaN.
    case FloatType =>
      val infinity = JFloat.floatToIntBits(Float.PositiveInfinity)
      def at(i: Long) = if (i >= 0) JFloat.intBitsToFloat(i.toInt) else -JFloat.intBitsToFloat((-1L - i).toInt)
      Some(longs(-infinity - 1L, infinity + 1L, at))
    case DoubleType =>
      val infinity = JDouble.doubleToLongBits(Double.PositiveInfinity)
      def at(i: Long) = if (i >= 0) JDouble.longBitsToDouble(i) else -JDouble.longBitsToDouble(-1L - i)
      Some(longs(-infinity - 1L, infinity + 1L, at))
    case d: DecimalType if d.scale >= 0 =>
      val most = BigInteger.TEN.pow(d.precision).subtract(BigInteger.ONE)
      def at(i: BigInteger) = Decimal(BigDecimal(new java.math.BigDecimal(i, d.scale)), d.precision, d.scale)
      Some(DiscreteDomain(most.negate, most, at))
    case _ => None
  }

  private def longs(first: Long, last: Long, at: Long => Any): DiscreteDomain =
    DiscreteDomain(BigInteger.valueOf(first), BigInteger.valueOf(last), i => at(i.longValueExact))
}
