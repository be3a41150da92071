package org.sparkzorder.footer

import java.time.{DateTimeException, Instant, LocalDate, ZoneId}
import java.time.temporal.ChronoUnit
import java.util.TimeZone

import org.apache.spark.sql.types.{DataType, DateType, TimestampType}

/**
 * The day and the instant from which on the Julian-Gregorian and the proleptic Gregorian calendar
 * give a stored number the same meaning. For dates it is the day of the switch. For instants it is
 * the year 1900: before, time zones were local mean times, which the two calendars' libraries round
 * differently.
 */
private[sparkzorder] object Calendar {
  val firstDay: Long = LocalDate.of(1582, 10, 15).toEpochDay
  val firstMicros: Long = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse("1900-01-01T00:00:00Z"))

  private val dayMicros = 86400L * 1000 * 1000

  /** Whether the type's stored numbers can mean two things. TIMESTAMP_NTZ is always proleptic. */
  def concerns(dt: DataType): Boolean = dt == DateType || dt == TimestampType

  /** Whether a column with this stored lower bound means the same in both calendars. */
  def settled(dt: DataType, min: Long): Boolean = dt match {
    case DateType      => min >= firstDay
    case TimestampType => min >= firstMicros
    case _             => true
  }

  /** Like [[settled]], for values that a reader may have converted, which can move an instant by hours. */
  def settledAfterReading(dt: DataType, min: Long): Boolean =
    settled(dt, if (dt == TimestampType && min > Long.MinValue + 2 * dayMicros) min - 2 * dayMicros else min)
}

/** The time zone of an ORC file's writer, which is not that of this JVM. None if it is not known. */
final case class OtherZone(zone: Option[ZoneId])

private[footer] object OtherZone {

  /** None if clocks are the same instants in both zones, or if neither zone ever changes its clocks. */
  def of(writer: Option[String]): Option[OtherZone] = {
    val here = TimeZone.getDefault.toZoneId
    val there = writer.flatMap { id =>
      try Some(ZoneId.of(id, ZoneId.SHORT_IDS))
      catch { case _: DateTimeException => None }
    }
    val never = here.getRules.isFixedOffset && there.exists(_.getRules.isFixedOffset)
    if (never || there.exists(_.getRules == here.getRules)) None else Some(OtherZone(there))
  }
}
