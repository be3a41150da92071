package org.sparkzorder.footer

import java.time.{DateTimeException, ZoneId}
import java.util.TimeZone

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
