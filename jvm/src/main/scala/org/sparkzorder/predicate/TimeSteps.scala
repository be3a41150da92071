package org.sparkzorder.predicate

import java.time.ZoneId
import java.time.temporal.ChronoUnit
import java.util.Locale

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/**
 * Functions of dates and timestamps. They are defined where a year more or less does not leave the type, and where the
 * zone's clock, see [[ZoneClock]], lets them be rising.
 *
 *  - `year(date)` is the first part of the date, by which dates are ordered.
 *  - `trunc(date, unit)` is the last start of a unit that is not after the date: rising for any units.
 *  - `date_add(c, n)` and `date_sub(c, n)` are sums of integers, which wrap at the ends.
 *  - timestamp to date is what the calendar shows at an instant. It is rising from where no clock is ever turned back
 *    over a midnight. Without a zone it is a division.
 *  - date to timestamp is the first instant of the day. It is rising from where the clock's days start in their order.
 *    Without a zone it is a product.
 *  - timestamp without a zone to one in a zone is a shift if the zone's offset never changes. Else the hour that a
 *    clock skips is read as the one after it, which comes out above times of that hour.
 *  - `date_trunc` to seconds and finer knows no zone; to minutes and hours it is the last whole one, see
 *    [[ZoneClock.whole]]; to days it is the start of the day that the calendar shows, if there is but one midnight; to
 *    longer units it is timestamp to date, `trunc`, and date to timestamp.
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

  /** More than the longest unit has. */
  private val MarginDays = 400

  /** Days on either side of 1970 whose microseconds are longs by far. */
  private val MostDays = 100000000
}
