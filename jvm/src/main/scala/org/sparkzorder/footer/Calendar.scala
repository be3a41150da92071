package org.sparkzorder.footer

import java.time.temporal.ChronoUnit
import java.time.{DateTimeException, Instant, LocalDate, ZoneId}
import java.util.TimeZone
import scala.reflect.ClassTag

import org.apache.hadoop.conf.Configuration
import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.types.{DataType, DateType, TimestampType}
import org.apache.spark.util.SerializableConfiguration

import org.sparkzorder.compat._

/**
 * The day and the instant from which on the Julian-Gregorian and the proleptic Gregorian calendar give a stored number
 * the same meaning. For dates it is the day of the switch. For instants it is the year 1900: before, time zones were
 * local mean times, which the two calendars' libraries round differently.
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

/** Looks through the values of files in a Spark job. */
private[footer] object TimestampSearch {

  private val MostTasks = 10000

  /** Whether there are digits below the microsecond, which Spark's type does not hold. */
  def isFiner(nanos: Long): Boolean = nanos % 1000 != 0

  /** What `look` finds in the first file, in order, in which it finds something. No files, no job. */
  def first[F: ClassTag, T: ClassTag](spark: SparkSession, description: String, files: Seq[F])(
      look: (Configuration, F) => Option[T]
  ): Option[T] =
    if (files.isEmpty) None
    else {
      val session = spark.asInstanceOf[ClassicSession]
      val context = session.sparkContext
      val conf = context.broadcast(new SerializableConfiguration(session.sessionState.newHadoopConf()))
      val tasks = files.grouped((files.size + MostTasks - 1) / MostTasks).map(_.toArray).toIndexedSeq
      val task = (_: TaskContext, part: Iterator[Array[F]]) =>
        part.flatMap(_.iterator).flatMap(file => look(conf.value.value, file)).nextOption()
      val caller = context.getLocalProperty("spark.job.description")
      context.setJobDescription(description)
      try context.runJob(context.parallelize(tasks, tasks.size), task).iterator.flatten.nextOption()
      finally {
        context.setJobDescription(caller)
        conf.destroy()
      }
    }
}
