package org.sparkzorder.write.orc

import org.apache.hadoop.hive.ql.exec.vector.{DateColumnVector, TimestampColumnVector}
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.catalyst.util.RebaseDateTime

/**
 * Days. Spark's days are in the proleptic Gregorian calendar. In the other calendar of ORC, Julian
 * days come before 1582-10-15, and Spark's readers take that calendar for granted: ORC converts for
 * them.
 */
private[write] final class OrcDate(vector: DateColumnVector, proleptic: Boolean) extends OrcColumn(vector) {
  vector.changeCalendar(proleptic, false)

  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
    val days = values.getInt(ordinal)
    vector.vector(i) = (if (proleptic) days else RebaseDateTime.rebaseGregorianToJulianDays(days)).toLong
  }
}

/**
 * Instants, for both of ORC's types: ORC makes wall clocks of them where the type is TIMESTAMP.
 *
 * They are always given in the calendar with Julian days, which is what Spark takes from ORC.
 * Where the file has the other one, ORC converts the wall clock, just as it does when it reads.
 */
private[write] final class OrcTimestamp(vector: TimestampColumnVector) extends OrcColumn(vector) {

  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
    // After a batch was converted, the vector takes itself for one of the other calendar.
    vector.changeCalendar(false, false)
    val micros = RebaseDateTime.rebaseGregorianToJulianMicros(values.getLong(ordinal))
    val millis = Math.floorDiv(micros, 1000L)
    // ORC stores the second rounded towards zero, so the fractions of this second are read as those
    // of the next one.
    if (millis < 0 && millis > -1000)
      throw new IllegalStateException("ORC cannot store a fraction of the last second before 1970")
    vector.time(i) = millis
    vector.nanos(i) = Math.floorMod(micros, 1000000L).toInt * 1000
  }
}
