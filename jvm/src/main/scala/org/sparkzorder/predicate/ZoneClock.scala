package org.sparkzorder.predicate

import java.time.{LocalDate, LocalDateTime, ZoneId, ZonedDateTime}
import java.time.temporal.ChronoUnit
import java.time.zone.ZoneOffsetTransition
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

/**
 * From when on functions of a zone's time are rising: for each function, an instant in microseconds
 * since 1970, or None if there is no such instant.
 *
 * A clock runs evenly except at its transitions, where it is put forward over a gap or back over an
 * overlap. Spark uses java.time, which lists the transitions of the past and has rules for those of
 * the years after them. The calendar repeats after 400 years, weekdays included, and so do the
 * rules. A transition is fit for a function if the function is rising there. The rules are looked
 * at for 400 years: one unfit transition there means None. Else the instant is more than a year
 * after the last unfit transition of the list, so that no truncation leads back to it.
 */
private[predicate] final class ZoneClock private (zone: ZoneId) {
  private val rules = zone.getRules
  private val listed = rules.getTransitions.asScala.toVector
  private val ruled = rules.getTransitionRules.asScala.toList match {
    case Nil   => Nil
    case every =>
      val year = listed.lastOption.fold(1970)(_.getDateTimeAfter.getYear) + 1
      for (y <- year until year + 400; rule <- every) yield rule.createTransition(y)
  }

  /** Timestamp to date is rising: no overlap has a midnight inside. One at its very start does no harm. */
  lazy val dates: Option[Long] = since(t => !t.isOverlap || lastMidnight(t) == t.getDateTimeAfter || !hasMidnight(t))

  /** Date to timestamp is rising: days begin in order. This can only fail near a transition. */
  lazy val dayStarts: Option[Long] = since(t => areInOrder(t, _.atStartOfDay(zone)))

  /**
   * Truncation to days is rising. If the clock shows no midnight twice, the result depends only on the date, and dates
   * are rising. A day whose midnight is skipped begins at the end of the gap or later, as java.time resolves it. So the
   * order of these beginnings is checked, as for [[dayStarts]].
   */
  lazy val midnights: Option[Long] =
    since(t => !(t.isOverlap && hasMidnight(t)) && areInOrder(t, _.atTime(0, 0).atZone(zone)))

  private def areInOrder(t: ZoneOffsetTransition, start: LocalDate => ZonedDateTime): Boolean = {
    val days = earlier(t).toLocalDate.minusDays(2).toEpochDay to later(t).toLocalDate.plusDays(2).toEpochDay
    val starts = days.map(d => start(LocalDate.ofEpochDay(d)).toInstant)
    starts.zip(starts.drop(1)).forall { case (a, b) => !b.isBefore(a) }
  }

  /**
   * Truncation to a unit of the local time is rising: right after each transition the clock shows a
   * whole unit. Proof: let x be an instant and T the last transition before it. The last whole unit
   * before x, by the offset at x, is not before T. So it has the offset of x, and the truncation
   * g(x) is the usual one, with T <= g(x) <= x. For a y before T, g(y) is not above T.
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

  /** Whether there is a midnight between the earlier local time, included, and the later one, excluded. */
  private def hasMidnight(t: ZoneOffsetTransition): Boolean = !lastMidnight(t).isBefore(earlier(t))

  /** The last midnight before the later local time. */
  private def lastMidnight(t: ZoneOffsetTransition): LocalDateTime = later(t).minusNanos(1).toLocalDate.atTime(0, 0)
}

private[predicate] object ZoneClock {

  val Day: Long = 86400000000L

  private val Margin = 370 * Day

  /** Between these two instants, a year more or less still gives a timestamp. */
  val Earliest: Long = Long.MinValue + Margin
  val Latest: Long = Long.MaxValue - Margin

  private val clocks = new ConcurrentHashMap[ZoneId, ZoneClock]

  def of(zone: ZoneId): ZoneClock = clocks.computeIfAbsent(zone, new ZoneClock(_))
}
