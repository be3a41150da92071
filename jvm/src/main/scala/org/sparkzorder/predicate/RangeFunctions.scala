package org.sparkzorder.predicate

import java.time.ZoneId

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import org.sparkzorder.compat._

/**
 * The functions that are [[PiecewiseMonotone]]. All are null if and only if an argument is, except where
 * [[TurningPoints]] or the checked function refuse.
 *
 *  - Arithmetic and casts of numbers: the exact result is monotone in each argument, and so is its rounding.
 *  - Rounding, `sqrt`, `exp`, logarithms and powers are monotone. The Java library computes them with an error of at
 *    most one unit in the last place.
 *  - Functions of dates: the calendar is in order. The last day of a month, and a day so many months later, are moved
 *    back within the month at most.
 *  - Functions of instants without a zone: divisions and products by units.
 *  - Functions of instants in a zone: see [[TurningPoints]]. The text of a date is in the order of dates if it begins
 *    with the year, goes on with smaller units, and all have a fixed width.
 *  - An instant and an interval: without days and months it is a sum. Else the sum of local times is off by the
 *    difference of two offsets, and by a day within a month, see [[slackOf]].
 *  - All [[MonotoneSteps]].
 */
private[predicate] object RangeFunctions {

  /** The arguments of a function; None if it is not known. */
  def argumentsOf(e: Expression): Option[Seq[Expression]] = e match {
    case _: Add | _: Subtract | _: Multiply | _: Divide | _: IntegralDivide if e.children.forall(isNumber) =>
      Some(e.children)
    case _: UnaryMinus | _: UnaryPositive | _: Abs | _: Floor | _: Ceil | _: Signum if e.children.forall(isNumber) =>
      Some(e.children)
    case _: Remainder | _: Pmod =>
      e.children match {
        case Seq(x, Literal(_: Number, dt)) if dt == x.dataType && isInteger(x) => Some(Seq(x))
        case _                                                                  => None
      }
    case r @ (_: Round | _: BRound | _: RoundFloor | _: RoundCeil) =>
      r.children match {
        case Seq(x, Literal(_: Int, IntegerType)) if isNumber(x) => Some(Seq(x))
        case _                                                   => None
      }
    case _: Sqrt | _: Cbrt | _: Exp | _: Log | _: Log10 | _: Log2 | _: Log1p | _: Pow       => Some(e.children)
    case c: Cast if isCast(c.child.dataType, c.dataType)                                    => Some(Seq(c.child))
    case _: LastDay | _: UnixDate | _: DateFromUnixDate                                     => Some(e.children)
    case _: Month | _: Quarter | _: DayOfMonth if e.children.forall(_.dataType == DateType) => Some(e.children)
    case _: DateDiff | _: AddMonths | _: DateAdd | _: DateSub | _: DateAddYMInterval        => Some(e.children)
    case _: UnixSeconds | _: UnixMillis | _: UnixMicros                                     => Some(e.children)
    case _: SecondsToTimestamp | _: MillisToTimestamp | _: MicrosToTimestamp if e.children.forall(isInteger) =>
      Some(e.children)
    case p: PreciseTimestampConversion                                                => Some(p.children)
    case u: ToTimestamp if u.left.dataType == TimestampType && u.dataType == LongType => Some(Seq(u.left))
    case d: DateFormatClass if d.left.dataType == TimestampType                       =>
      Some(d.right).collect { case Literal(format, _) if format != null && isOrdered(format.toString) => Seq(d.left) }
    case u: FromUTCTimestamp if u.right.isInstanceOf[Literal] => Some(Seq(u.left))
    case _ => intervalOf(e).map(_ => Seq(e.children.head)).orElse(MonotoneSteps.of(e).map(s => Seq(s.argument)))
  }

  /** The same function, but failing if a value leaves its type; None if it cannot, or gives null then. */
  def checked(e: Expression): Option[Expression] = e match {
    case a: Add            => strictly(new Add(a.left, a.right))
    case s: Subtract       => strictly(new Subtract(s.left, s.right))
    case m: Multiply       => strictly(new Multiply(m.left, m.right))
    case d: Divide         => strictly(new Divide(d.left, d.right))
    case d: IntegralDivide => strictly(new IntegralDivide(d.left, d.right))
    case m: UnaryMinus     => strictly(new UnaryMinus(m.child))
    case a: Abs            => strictly(new Abs(a.child))
    case r: Round          => strictly(new Round(r.child, r.scale))
    case r: BRound         => strictly(new BRound(r.child, r.scale))
    case c: Cast           => Some(Cast(c.child, c.dataType, c.timeZoneId, EvalMode.ANSI))
    case _                 => None
  }

  private def strictly(made: => Expression): Option[Expression] = {
    val strict = SQLConf.get.clone()
    strict.setConf(SQLConf.ANSI_ENABLED, true)
    Some(SQLConf.withExistingConf(strict)(made))
  }

  /** The zone of a function that follows the clock of a zone from one of its transitions to the next. */
  def zoneOf(e: Expression): Option[ZoneId] = e match {
    case d: DateFormatClass  => Some(d.zoneId)
    case u: FromUTCTimestamp =>
      Some(u.right).collect { case Literal(zone, _) if zone != null => DateTimeUtils.getZoneId(zone.toString) }
    case _ => None
  }

  /** How many microseconds a result may be off what the function would be without zones and the ends of months. */
  def slackOf(e: Expression): Option[Long] = intervalOf(e).map { interval =>
    val zone = e match {
      case z: TimeZoneAwareExpression if !z.zoneId.getRules.isFixedOffset => 2 * MostOffset
      case _                                                              => 0L
    }
    val ofMonths = if (interval.months != 0) 4 * ZoneClock.Day else 0L
    if (interval.months == 0 && interval.days == 0) 0L else zone + ofMonths
  }

  /** The literal interval that is added to an instant, or taken from it. */
  private def intervalOf(e: Expression): Option[CalendarInterval] = e.children match {
    case Seq(start, Literal(value, dt)) if Intervals(e.getClass.getSimpleName) && isInstant(start) =>
      (value, dt) match {
        case (i: CalendarInterval, _)          => Some(i)
        case (v: Long, _: DayTimeIntervalType) =>
          Some(new CalendarInterval(0, (v / ZoneClock.Day).toInt, v % ZoneClock.Day))
        case (v: Int, _: YearMonthIntervalType) => Some(new CalendarInterval(v, 0, 0L))
        case _                                  => None
      }
    case _ => None
  }

  /** By their names, since they have others in older Sparks. */
  private val Intervals = Set("TimeAdd", "TimestampAddInterval", "TimestampAddYMInterval")

  private val MostOffset = 18 * 3600 * 1000000L

  private def isInstant(e: Expression) = e.dataType == TimestampType || e.dataType == TimestampNTZType
  private def isNumber(e: Expression) = e.dataType.isInstanceOf[NumericType]
  private def isInteger(e: Expression) = NumericSteps.Integers(e.dataType)

  private def isCast(from: DataType, to: DataType): Boolean = (from, to) match {
    case (_: NumericType, _: NumericType)                            => true
    case (BooleanType, _: NumericType)                               => true
    case (TimestampType, LongType | DoubleType)                      => true
    case (i, TimestampType) if NumericSteps.Integers(i)              => true
    case (DateType, StringType)                                      => true
    case (TimestampNTZType, DateType) | (DateType, TimestampNTZType) => true
    case _                                                           => false
  }

  private def isOrdered(format: String): Boolean = format.matches("yyyy([-/.]?MM([-/.]?dd([ ]?HH(:?mm(:?ss)?)?)?)?)?")
}

/** Expressions as [[RangeOf]]s. */
private[predicate] final class Ranges(operands: Operands) {

  /** None if it is large, or has a part of which no range is known, or no column. */
  def of(e: Expression): Option[RangeOf] = if (Operands.isSmall(e)) range(e) else None

  private def range(e: Expression): Option[RangeOf] = e match {
    case l: Literal                => Option.when(Operands.isComparable(l.dataType))(LiteralRange(l))
    case Coalesce(values)          => all(values).map(FirstRange(_, e.dataType))
    case If(_, first, second)      => all(Seq(first, second)).map(ChoiceRange(_, e.dataType))
    case CaseWhen(branches, other) =>
      all(branches.map(_._2) :+ other.getOrElse(Literal(null, e.dataType))).map(ChoiceRange(_, e.dataType))
    case tag: TaggingExpression => range(tag.child)
    case Least(values)          => all(values).map(ExtremeRange(_, isLeast = true, e.dataType))
    case Greatest(values)       => all(values).map(ExtremeRange(_, isLeast = false, e.dataType))
    case _                      => operands.comparableColumn(e).map(ColumnRange(_)).orElse(function(e))
  }

  private def all(values: Seq[Expression]): Option[Seq[RangeOf]] = {
    val known = values.iterator.map(range).takeWhile(_.isDefined).flatten.toVector
    Option.when(known.size == values.size && known.forall(_.dataType == known.head.dataType))(known)
  }

  private def function(e: Expression): Option[RangeOf] =
    for {
      arguments <- RangeFunctions.argumentsOf(e)
      known = arguments.iterator.map(range).takeWhile(_.isDefined).flatten.toVector
      if known.size == arguments.size && Operands.isComparable(e.dataType)
    } yield {
      val places = e.children.indices.filter(i => arguments.exists(_ eq e.children(i)))
      val body = e.withNewChildren(e.children.zipWithIndex.map { case (child, i) =>
        if (places.contains(i)) BoundReference(places.indexOf(i), child.dataType, nullable = false) else child
      })
      FunctionRange(body, RangeFunctions.checked(body).filter(_ != body), known)
    }
}
