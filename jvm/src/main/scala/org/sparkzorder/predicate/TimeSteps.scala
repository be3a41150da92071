package org.sparkzorder.predicate

import java.time.ZoneId
import java.time.temporal.ChronoUnit
import java.util.Locale

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/**
 * Functions of dates and timestamps. They are used where two things hold: a year more or less does
 * not leave the type, and the zone's clock keeps them rising (see [[ZoneClock]]).
 *
 *  - `year(date)` is rising, since dates are ordered by their year first.
 *  - `trunc(date, unit)` is the last start of a unit that is not after the date. This is rising for
 *    any unit.
 *  - `date_add(c, n)` and `date_sub(c, n)` are sums of integers, which wrap at the ends.
 *  - Timestamp to date: the date that the calendar shows at an instant. It is rising from the time
 *    on after which no clock is turned back over a midnight. Without a zone it is a division.
 *  - Date to timestamp: the first instant of the day. It is rising from the time on after which the
 *    days of the zone start in order. Without a zone it is a product.
 *  - Timestamp without a zone to timestamp with one: a shift if the zone's offset never changes.
 *    Else it is not rising: times in an hour that the clock skips are read as one hour later, and
 *    so come after times of that later hour.
 *  - `date_trunc` to seconds and finer units does not depend on the zone. To minutes and hours it
 *    is the last whole one, see [[ZoneClock.whole]]. To days it is the start of the day that the
 *    calendar shows, if the day has one midnight. To longer units it is timestamp to date, then
 *    `trunc`, then date to timestamp.
 */
private object TimeSteps {

  def of(e: Expression): Option[MonotoneStep] = e match {
    case y: Year      => Some(MonotoneStep(y.child))
    case d: DateAdd   => days(d.startDate, d.days, 1)
    case d: DateSub   => days(d.startDate, d.days, -1)
    case t: TruncDate =>
      // A unit that Spark does not know gives null.
      val known = t.format.isInstanceOf[Literal] && TruncDate(Literal(0, DateType), t.format).eval() != null
      if (known) Some(MonotoneStep(t.date, from = Some(Int.MinValue + MarginDays))) else None
    case t: TruncTimestamp =>
      (t.format, zone(t)) match {
        case (Literal(unit, _), Some(z)) if unit != null => truncated(t.timestamp, unit.toString, z)
        case _                                           => None
      }
    case c: Cast => cast(c)
    case _       => None
  }

  private def cast(c: Cast): Option[MonotoneStep] = (c.child.dataType, c.dataType) match {
    case (TimestampNTZType, DateType) => Some(MonotoneStep(c.child))
    case (DateType, TimestampNTZType) => Some(MonotoneStep(c.child, from = Some(-MostDays), to = Some(MostDays)))
    case (TimestampType, DateType)    => zone(c).flatMap(z => from(c.child, ZoneClock.of(z).dates))
    case (DateType, TimestampType)    =>
      for (z <- zone(c); since <- ZoneClock.of(z).dayStarts) yield {
        val start = math.max(Math.floorDiv(since, ZoneClock.Day) + 2, -MostDays.toLong).toInt
        MonotoneStep(c.child, from = Some(start), to = Some(MostDays))
      }
    case (TimestampNTZType, TimestampType) =>
      zone(c).filter(_.getRules.isFixedOffset).flatMap(_ => from(c.child, Some(ZoneClock.Earliest)))
    case _ => None
  }

  private def truncated(child: Expression, unit: String, zone: ZoneId): Option[MonotoneStep] = {
    val clock = ZoneClock.of(zone)
    unit.toUpperCase(Locale.ROOT) match {
      case "MICROSECOND" | "MILLISECOND" | "SECOND" => from(child, Some(ZoneClock.Earliest))
      case "MINUTE"                                 => from(child, clock.whole(ChronoUnit.MINUTES))
      case "HOUR"                                   => from(child, clock.whole(ChronoUnit.HOURS))
      case "DAY" | "DD"                             => from(child, clock.midnights)
      case "WEEK" | "MON" | "MONTH" | "MM" | "QUARTER" | "YEAR" | "YYYY" | "YY" =>
        for (dates <- clock.dates; starts <- clock.dayStarts; step <- from(child, Some(math.max(dates, starts))))
          yield step
      case _ => None
    }
  }

  private def from(child: Expression, since: Option[Long]): Option[MonotoneStep] =
    since.map(s => MonotoneStep(child, from = Some(s), to = Some(ZoneClock.Latest)))

  private def days(start: Expression, n: Expression, sign: Int): Option[MonotoneStep] = n match {
    case Literal(number: Number, ByteType | ShortType | IntegerType) =>
      val c = number.longValue * sign
      def end(v: Long) = math.max(math.min(v, Int.MaxValue.toLong), Int.MinValue.toLong).toInt
      Some(MonotoneStep(start, from = Some(end(Int.MinValue - c)), to = Some(end(Int.MaxValue - c))))
    case _ => None
  }

  private def zone(e: TimeZoneAwareExpression): Option[ZoneId] = e.timeZoneId.map(_ => e.zoneId)

  /** More days than the longest unit has. */
  private val MarginDays = 400

  /** So many days before or after 1970, the microseconds since 1970 still fit a long easily. */
  private val MostDays = 100000000
}

/** Finds the [[MonotoneStep]] that an expression is. */
private[predicate] object MonotoneSteps {

  /** None for everything that is not proven in [[NumericSteps]] or in [[TimeSteps]]. */
  def of(e: Expression): Option[MonotoneStep] = NumericSteps.of(e).orElse(TimeSteps.of(e))
}
