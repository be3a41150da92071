package org.sparkzorder.footer

import java.time.{Instant, LocalDate}
import java.time.temporal.ChronoUnit

import org.apache.spark.sql.types.{DataType, DateType, TimestampType}

/**
 * From when on the Julian-Gregorian and the proleptic Gregorian calendar give a stored number the same meaning: dates from the day of the switch,
 * instants from 1900, since time zones before that were local mean times which the two calendars' libraries round differently.
 */
private[sparkzorder] object Calendar {
  val firstDay: Long = LocalDate.of(1582, 10, 15).toEpochDay
  val firstMicros: Long = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse("1900-01-01T00:00:00Z"))

  private val dayMicros = 86400L * 1000 * 1000

  /** Whether the type's stored numbers have ever meant two things. TIMESTAMP_NTZ is younger than the question. */
  def concerns(dt: DataType): Boolean = dt == DateType || dt == TimestampType

  /** Whether a column with this stored lower bound means the same in both calendars. */
  def settled(dt: DataType, min: Long): Boolean = dt match {
    case DateType      => min >= firstDay
    case TimestampType => min >= firstMicros
    case _             => true
  }

  /** The same for a bound of values that may have been converted already, which can move an instant by hours. */
  def settledAfterReading(dt: DataType, min: Long): Boolean =
    settled(dt, if (dt == TimestampType && min > Long.MinValue + 2 * dayMicros) min - 2 * dayMicros else min)
}
