package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import org.sparkzorder.stats.OrderedValue

/**
 * Casts between numbers that lose nothing but digits, and sums with a literal.
 *
 * These casts give a value for every number and keep the order (they are rising):
 *  - Exact ones: integers to integers at least as wide, integers to decimals with room for all
 *    their digits, float to double.
 *  - Integers to float and double: rounding to the nearest is rising, and no integer rounds to NaN
 *    or infinity.
 *  - Decimals to decimals with no fewer digits before and after the point: exact.
 *
 * Casts to narrower types may wrap, round to null or throw.
 *
 * `x + c` and `x - c` are rising, `c - x` and `-x` are falling:
 *  - Sums of integers are exact where they are values of the type. Elsewhere they wrap, are null or
 *    throw, depending on the ANSI mode.
 *  - Sums of decimals are exact when their type has less than 38 digits. Only at 38 digits does
 *    Spark cut the scale, or overflow.
 *  - A sum of floats or doubles is the exact sum, rounded, and rounding is rising. c is finite, so
 *    only NaN gives NaN. NaN is above everything, and so is its sum: a rising function may have NaN
 *    in its range, a falling one must end at infinity.
 */
private object NumericSteps {

  def of(e: Expression): Option[MonotoneStep] = e match {
    case c: Cast if keepsOrder(c.child.dataType, c.dataType) => Some(MonotoneStep(c.child))
    case a: Add                                              =>
      (a.left, a.right) match {
        case (x, c: Literal) => sum(x, c, rising = true, addend(c), a.dataType)
        case (c: Literal, x) => sum(x, c, rising = true, addend(c), a.dataType)
        case _               => None
      }
    case s: Subtract =>
      (s.left, s.right) match {
        case (x, c: Literal) => sum(x, c, rising = true, addend(c).map(-_), s.dataType)
        case (c: Literal, x) => sum(x, c, rising = false, addend(c), s.dataType)
        case _               => None
      }
    case m: UnaryMinus => sum(m.child, m.child, rising = false, Some(BigInt(0)), m.dataType)
    case _             => None
  }

  /** `x + c` if it is rising, else `c - x`. */
  private def sum(
      x: Expression,
      literal: Expression,
      rising: Boolean,
      c: Option[BigInt],
      to: DataType
  ): Option[MonotoneStep] = (x.dataType, to) match {
    case (FloatType | DoubleType, _) if literal.dataType == x.dataType && c.isDefined =>
      val infinity: Any = if (x.dataType == FloatType) Float.PositiveInfinity else Double.PositiveInfinity
      Some(MonotoneStep(x, rising, to = if (rising) None else Some(infinity)))
    case (_: DecimalType, d: DecimalType)
        if c.isDefined && (d.precision < DecimalType.MAX_PRECISION || literal.eq(x)) =>
      Some(MonotoneStep(x, rising))
    case (from, _) if from == to && literal.dataType == to =>
      for ((least, most) <- range(to); addend <- c) yield {
        val (low, high) = if (rising) (least - addend, most - addend) else (addend - most, addend - least)
        def end(v: BigInt) = OrderedValue.decode(to, v.max(least).min(most).toLong)
        MonotoneStep(x, rising, Some(end(low)), Some(end(high)))
      }
    case _ => None
  }

  /** The value of an integer. Zero for a finite fraction: its value does not matter here. */
  private def addend(c: Literal): Option[BigInt] = c.value match {
    case v: Byte                                   => Some(BigInt(v.toInt))
    case v: Short                                  => Some(BigInt(v.toInt))
    case v: Int if c.dataType == IntegerType       => Some(BigInt(v))
    case v: Long if c.dataType == LongType         => Some(BigInt(v))
    case v: Float if java.lang.Float.isFinite(v)   => Some(BigInt(0))
    case v: Double if java.lang.Double.isFinite(v) => Some(BigInt(0))
    case _: Decimal                                => Some(BigInt(0))
    case _                                         => None
  }

  val Integers: Set[DataType] = Set(ByteType, ShortType, IntegerType, LongType)

  private def range(dataType: DataType): Option[(BigInt, BigInt)] =
    DiscreteDomain.of(dataType).filter(_ => Integers(dataType)).map(d => (new BigInt(d.first), new BigInt(d.last)))

  private def keepsOrder(from: DataType, to: DataType): Boolean = (from, to) match {
    case (FloatType, DoubleType)          => true
    case (f: DecimalType, t: DecimalType) =>
      f.scale >= 0 && t.scale >= f.scale && t.precision - t.scale >= f.precision - f.scale
    case _ =>
      digits(from).exists { most =>
        to match {
          case FloatType | DoubleType => true
          case d: DecimalType         => d.scale >= 0 && d.precision - d.scale >= most
          case _                      => digits(to).exists(_ >= most)
        }
      }
  }

  /** Most decimal digits of an integer type. A wider type has more. */
  private def digits(dataType: DataType): Option[Int] = range(dataType).map(_._2.toString.length)
}

/**
 * A function of one argument that keeps the order of its argument between two ends, or always reverses it there. For
 * each argument from `from` to `to`, both included, it gives a value. For null it gives null.
 *
 * @param rising whether it keeps the order; else it reverses it
 * @param from Catalyst's value of the argument's type, None for the least one
 * @param to likewise, None for the greatest one
 */
private[predicate] final case class MonotoneStep(
    argument: Expression,
    rising: Boolean = true,
    from: Option[Any] = None,
    to: Option[Any] = None
)
