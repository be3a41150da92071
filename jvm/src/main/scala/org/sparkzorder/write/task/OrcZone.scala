package org.sparkzorder.write.task

import java.io.IOException
import java.time.ZoneId
import java.util.TimeZone

import org.apache.spark.sql.types._

/**
 * The time zone of a JVM, by which ORC's reader and writer turn stored clocks into instants and back. If an executor
 * has another one than the driver, or than another executor, the clocks of a rewrite are not those that were stored.
 */
private[write] object OrcZone {

  def here: String = TimeZone.getDefault.getID

  def isUsedBy(dt: DataType): Boolean = dt match {
    case TimestampType | TimestampNTZType => true
    case s: StructType                    => s.exists(f => isUsedBy(f.dataType))
    case a: ArrayType                     => isUsedBy(a.elementType)
    case m: MapType                       => isUsedBy(m.keyType) || isUsedBy(m.valueType)
    case _                                => false
  }

  /** @throws java.io.IOException when this executor has another zone than the driver */
  def refuseOther(driver: String): Unit =
    if (ZoneId.of(driver, ZoneId.SHORT_IDS).getRules != TimeZone.getDefault.toZoneId.getRules) throw new IOException(
      s"an executor has the time zone $here and the driver $driver, and ORC stores timestamps by it: start both with " +
        "the same -Duser.timezone"
    )
}
