package org.sparkzorder.predicate

import java.time.{Instant, LocalDate, ZoneId}
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import org.sparkzorder.compat._
import org.sparkzorder.predicate.RangeFunctions.zoneOf
import org.sparkzorder.stats.OrderedValue

/**
 * Where a function of [[RangeFunctions]] changes its direction, and where it is a finite value at all.
 *
 *  - `x % c` and `pmod(x, c)` start anew at the multiples of c. From one multiple to the next they take all their
 *    values, so one multiple is enough on each side of 0.
 *  - `month`, `quarter` and `day` start anew with each year or month. One new year is enough to take all values; of two
 *    months in turn, one has 31 days.
 *  - Functions of a timestamp in a zone rise with the zone's clock, which is a shift between two of its transitions.
 *  - A quotient rises or falls as long as the divisor is not 0, and logarithms and powers for numbers above 0.
 */
private[predicate] final class TurningPoints(function: Expression) {
  import TurningPoints._

  /** The ends and the turning points between them of an argument; None if the function is not known there. */
  def of(argument: Int, lo: Any, hi: Any): Option[Seq[Any]] =
    if (!isUsual(lo) || !isUsual(hi)) None
    else {
      val dataType = function.collectFirst { case b: BoundReference if b.ordinal == argument => b.dataType }.get
      def number(v: Any): BigInt = BigInt(v.asInstanceOf[Number].longValue)
      def integers(values: BigInt*): Seq[Any] =
        values.filter(v => v >= number(lo) && v <= number(hi)).map(v => OrderedValue.decode(dataType, v.toLong))
      def isPositive = signOf(lo) > 0
      def isNegative = signOf(hi) < 0
      def when(isKnown: Boolean) = Option.when(isKnown)(Seq.empty[Any])
      val inside: Option[Seq[Any]] = (function, dataType) match {
        case (_, DateType) if !isWithin(number(lo), number(hi), FirstDay, LastDay, 1)                           => None
        case (_, TimestampType | TimestampNTZType) if !isWithin(number(lo), number(hi), FirstDay, LastDay, Day) => None
        case (_: Abs, _)                 => Some(zeroBetween(dataType, lo, hi))
        case (_: Remainder | _: Pmod, _) => period(function).map(c => integers(around(c, number(lo), number(hi)): _*))
        case (_: Divide | _: IntegralDivide, _)          => when(argument == 0 || isPositive || isNegative)
        case (_: Sqrt, _)                                => when(signOf(lo) >= 0)
        case (_: Log | _: Log10 | _: Log2 | _: Log1p, _) => when(isPositive)
        case (_: Pow, _)                                 => when(argument == 1 || isPositive)
        case (_: Month | _: Quarter, _)                  => Some(integers(starts(lo, ChronoUnit.YEARS, 1): _*))
        case (_: DayOfMonth, _)                          => Some(integers(starts(lo, ChronoUnit.MONTHS, 2): _*))
        case (_: DateFormatClass, _) if number(lo) < BigInt(FirstFormatted) * Day           => None
        case (c: Cast, DateType) if c.dataType == StringType && number(lo) < FirstFormatted => None
        case (_: DateAdd | _: DateSub, IntegerType | ShortType | ByteType)                  =>
          when(number(lo).abs < MostDays && number(hi).abs < MostDays)
        case _ =>
          MonotoneSteps.of(function) match {
            case Some(MonotoneStep(_, _, from, to)) =>
              when(from.forall(number(_) <= number(lo)) && to.forall(number(_) >= number(hi)))
            case None =>
              zoneOf(function).fold(Option(Seq.empty[Any]))(transitions(_, number(lo).toLong, number(hi).toLong))
          }
      }
      inside.map(lo +: _ :+ hi)
    }

  /** Bounds for all values; None for a value that is not finite. */
  def widened(least: Any, most: Any): Option[(Any, Any)] = (function, least, most) match {
    // Two machines may differ in the last digit.
    case (_: Log | _: Log10 | _: Log2 | _: Log1p | _: Pow | _: Exp | _: Cbrt, a: Double, b: Double) =>
      Some((Math.nextDown(Math.nextDown(a)), Math.nextUp(Math.nextUp(b))))
    case _ => RangeFunctions.slackOf(function).fold(Option((least, most))) { slack =>
        Some((Math.subtractExact(least.asInstanceOf[Long], slack), Math.addExact(most.asInstanceOf[Long], slack)))
      }
  }

  private def isUsual(v: Any): Boolean = v match {
    case d: Double => !d.isNaN && !d.isInfinite
    case f: Float  => !f.isNaN && !f.isInfinite
    case _         => true
  }

  private def zeroBetween(dt: DataType, lo: Any, hi: Any): Seq[Any] =
    if (signOf(lo) < 0 && signOf(hi) > 0) Seq(Literal.default(dt).value) else Nil

  /** The multiples of c next to 0 and their neighbours, or those next to the ends. */
  private def around(c: BigInt, lo: BigInt, hi: BigInt): Seq[BigInt] = {
    def floor(v: BigInt) = v - ((v % c) + c) % c
    val (first, last) = (floor(lo) + c, floor(hi))
    Seq(BigInt(0), first - 1, first, first + 1, last - 1, last, last + 1)
  }

  private def period(e: Expression): Option[BigInt] = e.children.collectFirst {
    case Literal(n: Number, ByteType | ShortType | IntegerType | LongType) if n.longValue > 0 => BigInt(n.longValue)
  }

  /** The first days of units after a day, and the days before them. */
  private def starts(lo: Any, unit: ChronoUnit, count: Int): Seq[BigInt] = {
    val day = LocalDate.ofEpochDay(lo.asInstanceOf[Int].toLong)
    val first = if (unit == ChronoUnit.YEARS) day.withDayOfYear(1) else day.withDayOfMonth(1)
    (1 to count).flatMap { n =>
      val start = first.plus(n.toLong, unit).toEpochDay
      Seq(BigInt(start - 1), BigInt(start))
    }
  }

  private def transitions(zone: ZoneId, lo: Long, hi: Long): Option[Seq[Any]] = {
    val rules = zone.getRules
    val last = ofMicros(hi)
    val found = Iterator.iterate(rules.nextTransition(ofMicros(lo)))(t => rules.nextTransition(t.getInstant))
      .takeWhile(t => t != null && !t.getInstant.isAfter(last)).take(MostTransitions).toVector
    if (found.size == MostTransitions) None
    else Some(found.map(_.toEpochSecond * 1000000L).flatMap(t => Seq(math.max(t - 1, lo), t)))
  }

  private def ofMicros(v: Long) = Instant.ofEpochSecond(Math.floorDiv(v, 1000000L), Math.floorMod(v, 1000000L) * 1000)
}

private[predicate] object TurningPoints {
  private val Day = ZoneClock.Day
  private val FirstDay = LocalDate.of(1, 1, 2).toEpochDay
  private val LastDay = LocalDate.of(9999, 12, 30).toEpochDay

  /** Before that, a legacy formatter may have another calendar. */
  private val FirstFormatted = LocalDate.of(1900, 1, 1).toEpochDay

  private val MostDays = 100000000
  private val MostTransitions = 20

  private def isWithin(lo: BigInt, hi: BigInt, first: Long, last: Long, unit: Long): Boolean =
    lo >= BigInt(first) * unit && hi <= BigInt(last) * unit

  private def signOf(v: Any): Int = v match {
    case d: Decimal => d.toJavaBigDecimal.signum
    case d: Double  => math.signum(d).toInt
    case f: Float   => math.signum(f).toInt
    case n: Number  => java.lang.Long.signum(n.longValue)
    case _          => 0
  }
}
