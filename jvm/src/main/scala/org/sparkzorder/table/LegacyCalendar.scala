package org.sparkzorder.table

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.internal.SQLConf

/**
 * An option of the table, or a setting of the session, that makes Spark read old dates by the
 * Julian calendar.
 *
 * @param isInt96 whether it concerns INT96 timestamps, and not dates and other timestamps
 */
final case class LegacyCalendar(name: String, value: String, isInt96: Boolean)

/**
 * The rebase mode `LEGACY`. Spark follows it for files that do not say their calendar. Other
 * readers, and sessions with Spark's defaults, take the days in these files as they are. A rewrite
 * under `LEGACY` would change the days for them.
 */
object LegacyCalendar {

  private val modes = Seq(
    ("datetimeRebaseMode", SQLConf.PARQUET_REBASE_MODE_IN_READ.key, false),
    ("int96RebaseMode", SQLConf.PARQUET_INT96_REBASE_MODE_IN_READ.key, true)
  )

  /** Those in force. An option of the table wins over the session's setting. */
  def of(options: Map[String, String], conf: SQLConf): Seq[LegacyCalendar] =
    modes.flatMap { case (option, key, int96) =>
      val ofTable = CaseInsensitiveMap(options).get(option).map(LegacyCalendar(option, _, int96))
      Some(ofTable.getOrElse(LegacyCalendar(key, conf.getConfString(key), int96)))
        .filter(_.value.trim.equalsIgnoreCase("LEGACY"))
    }
}
