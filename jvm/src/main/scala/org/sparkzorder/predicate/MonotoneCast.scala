package org.sparkzorder.predicate

import java.lang.{Float => JFloat}
import java.math.BigInteger

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, LessThan, LessThanOrEqual, Literal}
import org.apache.spark.sql.types._

/**
 * Comparisons of `cast(column)` with a literal, turned into comparisons of the column.
 *
 * Proof. Let f be a cast that gives a value for every value of the column's type and null only for null, and that never
 * turns the order round: x <= y implies f(x) <= f(y). Then `{x : f(x) < v}` holds, with each of its values, every
 * smaller one. The column's type is a finite chain, so there is a first value t outside of that set, and `f(x) < v` is
 * `x < t` for every x. Likewise `f(x) <= v` is `x < u` with u the first value for which it does not hold, and u is not
 * below t. `>`, `>=` and `<>` are negations; `f(x) = v` is `t <= x < u`. If t is the least value of all, `f(x) < v` is
 * false for every x; if there is no t it is true for every x; a null x gives null. f need not be one-to-one (long to
 * double): then t and u lie further apart. v need not be an f(x) (`cast(int) = 1.5`): then t = u.
 *
 * t and u are found by bisection with Spark's own cast and comparison, so overflow, rounding, NaN and infinities are
 * Spark's.
 *
 * The casts, each total and monotone:
 *  - integers to integers at least as wide; to decimals with room for all their digits; float to double: exact.
 *  - integers to float and double: rounding to the nearest is monotone, and no integer rounds to NaN or infinity.
 *  - decimals to decimals with no fewer digits before and after the point: exact.
 *
 * Narrower targets may wrap, round to null or throw; strings, dates and timestamps depend on formats and zones: all of
 * them are functions.
 */
private[predicate] object MonotoneCast {

  def applies(cast: Cast): Boolean = (cast.child.dataType, cast.dataType) match {
    case (FloatType, DoubleType)              => true
    case (from: DecimalType, to: DecimalType) =>
      from.scale >= 0 && to.scale >= from.scale && to.precision - to.scale >= from.precision - from.scale
    case (from, to) =>
      digits(from).exists { most =>
        to match {
          case FloatType | DoubleType => true
          case d: DecimalType         => d.scale >= 0 && d.precision - d.scale >= most
          case _                      => digits(to).exists(_ >= most)
        }
      }
  }

  /** `cast(column) operator literal` for a literal of the cast's type that is not null. */
  def comparison(column: Column, cast: Cast, operator: Operator, literal: Literal): StatsPredicate = {
    val bounds = new Bounds(column, cast, literal)
    operator match {
      case Operator.Less           => bounds.less
      case Operator.LessOrEqual    => bounds.lessOrEqual
      case Operator.Greater        => Not(bounds.lessOrEqual)
      case Operator.GreaterOrEqual => Not(bounds.less)
      case Operator.Equal          => bounds.equal
      case Operator.NotEqual       => Not(bounds.equal)
      case Operator.NullSafeEqual  =>
        bounds.equal match {
          case Comparison(c, Operator.Equal, v) => Comparison(c, Operator.NullSafeEqual, v)
          // Null for null rows only: with this they are false.
          case other => And(IsNotNull(column), other)
        }
    }
  }

  /** False for every value of the column, null for null. */
  def falseUnlessNull(column: Column): StatsPredicate = And(IsNull(column), Const.Null)

  /** True for every value of the column, null for null. */
  def trueUnlessNull(column: Column): StatsPredicate = Or(IsNotNull(column), Const.Null)

  private final class Bounds(column: Column, cast: Cast, literal: Literal) {
    private val chain = Chain.of(column.dataType)
    private val notLess = first(LessThan(_, literal))
    private val greater = first(LessThanOrEqual(_, literal))

    def less: StatsPredicate = below(notLess)
    def lessOrEqual: StatsPredicate = below(greater)

    def equal: StatsPredicate =
      if (notLess == greater) falseUnlessNull(column)
      else {
        val lo = value(notLess)
        val hi = value(greater.subtract(BigInteger.ONE))
        // Not only one element of the chain: -0.0 and 0.0 are two that are equal.
        if (lo == hi) Comparison(column, Operator.Equal, lo)
        else And(Comparison(column, Operator.GreaterOrEqual, lo), Comparison(column, Operator.LessOrEqual, hi))
      }

    private def below(place: BigInteger): StatsPredicate =
      if (place == chain.first) falseUnlessNull(column)
      else if (place.compareTo(chain.last) > 0) trueUnlessNull(column)
      else Comparison(column, Operator.Less, value(place))

    private def value(place: BigInteger): Value = Value.of(column.dataType, chain.at(place))

    /** The first place at which the comparison with the cast value is false, last + 1 if nowhere. */
    private def first(comparison: Expression => Expression): BigInteger = {
      var from = chain.first
      var to = chain.last.add(BigInteger.ONE)
      while (from.compareTo(to) < 0) {
        val middle = from.add(to).shiftRight(1)
        val point = cast.withNewChildren(Seq(Literal(chain.at(middle), column.dataType)))
        if (comparison(point).eval() == true) from = middle.add(BigInteger.ONE) else to = middle
      }
      from
    }
  }

  /** All values of a type in ascending order, by place. */
  private final case class Chain(first: BigInteger, last: BigInteger, at: BigInteger => Any)

  private object Chain {
    def of(dataType: DataType): Chain = dataType match {
      case ByteType    => longs(Byte.MinValue, Byte.MaxValue, _.toByte)
      case ShortType   => longs(Short.MinValue, Short.MaxValue, _.toShort)
      case IntegerType => longs(Int.MinValue, Int.MaxValue, _.toInt)
      case LongType    => longs(Long.MinValue, Long.MaxValue, identity)
      case FloatType   =>
        // Bits of positive floats ascend, those of negative ones descend; one place above infinity is a NaN.
        val infinity = JFloat.floatToIntBits(Float.PositiveInfinity)
        def at(i: Long) = if (i >= 0) JFloat.intBitsToFloat(i.toInt) else -JFloat.intBitsToFloat((-1L - i).toInt)
        longs(-infinity - 1L, infinity + 1L, at)
      case d: DecimalType =>
        val most = BigInteger.TEN.pow(d.precision).subtract(BigInteger.ONE)
        Chain(most.negate, most, i => Decimal(BigDecimal(new java.math.BigDecimal(i, d.scale)), d.precision, d.scale))
      case other => throw new IllegalArgumentException(s"no monotone cast from ${other.catalogString}")
    }

    private def longs(first: Long, last: Long, at: Long => Any): Chain =
      Chain(BigInteger.valueOf(first), BigInteger.valueOf(last), i => at(i.longValueExact))
  }

  /** Most decimal digits of an integer type, more for a wider one. */
  private def digits(dataType: DataType): Option[Int] = dataType match {
    case ByteType    => Some(3)
    case ShortType   => Some(5)
    case IntegerType => Some(10)
    case LongType    => Some(19)
    case _           => None
  }
}
