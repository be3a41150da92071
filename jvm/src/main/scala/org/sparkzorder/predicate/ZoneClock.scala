package org.sparkzorder.predicate

import java.time.{LocalDate, LocalDateTime, ZoneId}
import java.time.temporal.ChronoUnit
import java.time.zone.ZoneOffsetTransition
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

/**
 * From when on a zone's clock behaves, in microseconds since 1970; None if it never will for good.
 *
 * A clock runs evenly but for its transitions, at each of which it is put forward over a gap or back over an overlap.
 * java.time, which Spark goes by, lists those of the past, and has rules for those of the years after them. The calendar
 * repeats after 400 years, weekdays too, and so do the rules. All transitions from an instant on are fit for a
 * function if none of the listed and of 400 years of the ruled ones is unfit; the instant is more than a year after the
 * last unfit one, so that nothing truncated leads back to it.
 */
private[predicate] final class ZoneClock private (zone: ZoneId) {
  private val rules = zone.getRules
  private val listed = rules.getTransitions.asScala.toSeq
  private val ruled = rules.getTransitionRules.asScala.toSeq match {
    case Nil   => Nil
    case every =>
      val year = listed.lastOption.fold(1970)(_.getDateTimeAfter.getYear) + 1
      for (y <- year until year + 400; rule <- every) yield rule.createTransition(y)
  }

  /** The date never goes back: no overlap has a midnight inside, but maybe at its very start. */
  lazy val dates: Option[Long] = since(t => !t.isOverlap || lastMidnight(t) == t.getDateTimeAfter || !hasMidnight(t))

  /** The first instants of days come in the order of the days: so they do unless there is a transition nearby. */
  lazy val dayStarts: Option[Long] = since { t =>
    val first = earlier(t).toLocalDate.minusDays(2)
    val days = first.toEpochDay to later(t).toLocalDate.plusDays(2).toEpochDay
    val starts = days.map(d => LocalDate.ofEpochDay(d).atStartOfDay(zone).toInstant)
    starts.zip(starts.drop(1)).forall { case (a, b) => !b.isBefore(a) }
  }

  /**
   * Truncation to days is rising. If no midnight is shown twice, it is a function of the date, and the dates never go
   * back. A day whose midnight is skipped begins at the end of the gap or later, by how java.time resolves it: this is
   * looked at as for [[dayStarts]].
   */
  lazy val midnights: Option[Long] = since { t =>
    val first = earlier(t).toLocalDate.minusDays(2)
    val days = first.toEpochDay to later(t).toLocalDate.plusDays(2).toEpochDay
    val starts = days.map(d => LocalDate.ofEpochDay(d).atTime(0, 0).atZone(zone).toInstant)
    !(t.isOverlap && hasMidnight(t)) && starts.zip(starts.drop(1)).forall { case (a, b) => !b.isBefore(a) }
  }

  /**
   * Truncation to a unit of the local time is rising: after each transition the clock shows a whole unit. Then the last
   * whole unit before an instant x, by the offset at x, is not before the transition T that x follows. So it has that
   * offset, the truncation g(x) is the usual one with T <= g(x) <= x, and no g(y) of a y before T is above T.
   */
  def whole(unit: ChronoUnit): Option[Long] = since(t => t.getDateTimeAfter.truncatedTo(unit) == t.getDateTimeAfter)

  private def since(fit: ZoneOffsetTransition => Boolean): Option[Long] =
    if (!ruled.forall(fit)) None
    else {
      val last = listed.filterNot(fit).lastOption
      Some(last.fold(ZoneClock.Earliest)(t => t.toEpochSecond * 1000000L + ZoneClock.Margin))
    }

  private def earlier(t: ZoneOffsetTransition) = if (t.isGap) t.getDateTimeBefore else t.getDateTimeAfter
  private def later(t: ZoneOffsetTransition) = if (t.isGap) t.getDateTimeAfter else t.getDateTimeBefore

  /** Whether a midnight is from the earlier local time, included, to the later one, excluded. */
  private def hasMidnight(t: ZoneOffsetTransition): Boolean =
    !lastMidnight(t).isBefore(earlier(t))

  /** The last midnight before the later local time. */
  private def lastMidnight(t: ZoneOffsetTransition): LocalDateTime = later(t).minusNanos(1).toLocalDate.atTime(0, 0)
}

private[predicate] object ZoneClock {

  /** Microseconds of a day. */
  val Day: Long = 86400000000L

  private val Margin = 370 * Day

  /** Instants from and to which a year more or less is still a timestamp. */
  val Earliest: Long = Long.MinValue + Margin
  val Latest: Long = Long.MaxValue - Margin

  private val clocks = new ConcurrentHashMap[ZoneId, ZoneClock]

  def of(zone: ZoneId): ZoneClock = clocks.computeIfAbsent(zone, new ZoneClock(_))
}
