package org.sparkzorder.table

import java.util.Locale

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.compat._

/**
 * An option or setting that makes a table's readers skip files or rows.
 *
 * @param name of the table's option, or of the session's setting
 * @param reason completes the sentence 'the table cannot be rewritten, since ..'
 */
final case class UnsafeOption(name: String, value: String, reason: String)

/**
 * Options of a table with which its readers may not find the files that a rewrite leaves.
 *
 * These are safe, and so allowed. `basePath` and `mergeSchema` decide on columns, and every file stays in its folder.
 * `datetimeRebaseMode` and `int96RebaseMode` depend on the files, see [[LegacyCalendar]]. Encryption has an error of
 * its own. All other keys of Parquet and ORC concern only writing.
 */
object UnsafeOptions {

  private val byTime = "files are chosen by their time, and a rewrite changes it"
  private val skipsFiles =
    "a query that runs at the same time would leave out files that are being exchanged, without an error"
  private val skipsDamage = "its readers leave out damaged files, which a rewrite would lose for good"

  // Spark itself finds Parquet columns by name. Hive follows the option, so it would read other values after a rewrite.
  private val byPosition = "its columns are found by their position, whatever their names"

  private val flags = Map(
    "recursivefilelookup" -> "its files are in folders that are not partitions",
    "ignoremissingfiles" -> skipsFiles,
    "ignorecorruptfiles" -> skipsDamage,
    "orc.skip.corrupt.data" -> skipsDamage,
    "hive.exec.orc.skip.corrupt.data" -> skipsDamage,
    "orc.force.positional.evolution" -> byPosition,
    "parquet.column.index.access" -> byPosition
  )

  private val pathFilter = "mapreduce.input.pathFilter.class"
  private val byFilter = "it chooses files by rules that only its code knows"

  // Since Spark 4.3. Retired files are in the hidden folder _zorder.
  private val showsRetired = "files with hidden names are read as data, and so would be those that a rewrite retires"

  /** Of the session, with the value that is safe. */
  private val ofSession = Seq(
    (pathFilter, "", byFilter),
    ("spark.sql.files.ignoredPathSegmentRegex", "^[._]", showsRetired)
  )

  /**
   * @param options of the table, in any case
   * @param formatName parquet or orc
   * @param hadoop the session's settings of Hadoop
   */
  def first(options: Map[String, String], formatName: String, hadoop: Configuration): Option[UnsafeOption] =
    options.toSeq.sorted.iterator.flatMap { case (key, value) =>
      reason(key.toLowerCase(Locale.ROOT), value, formatName).map(UnsafeOption(key, value, _))
    }.nextOption().orElse(ofSession.collectFirst {
      case (key, safe, reason) if Option(hadoop.get(key)).exists(_ != safe) =>
        UnsafeOption(key, hadoop.get(key), reason)
    })

  private def reason(key: String, value: String, formatName: String): Option[String] = key match {
    // Our files have such names.
    case "pathglobfilter" if value != "*" && value != s"*.$formatName" =>
      Some("files are chosen by their names, and those of a rewrite may not be among them")
    case "ignoredpathsegmentregex" if value != "^[._]" => Some(showsRetired)
    case k if k == pathFilter.toLowerCase(Locale.ROOT) => Some(byFilter)
    case "modifiedbefore" | "modifiedafter"            => Some(byTime)
    case _ if value.trim.equalsIgnoreCase("true")      => flags.get(key)
    case _                                             => None
  }
}

/**
 * An option of the table, or a setting of the session, that makes Spark read old dates by the Julian calendar.
 *
 * @param isInt96 whether it concerns INT96 timestamps, and not dates and other timestamps
 */
final case class LegacyCalendar(name: String, value: String, isInt96: Boolean)

/**
 * The rebase mode `LEGACY`. Spark follows it for files that do not say their calendar. Other readers, and sessions with
 * Spark's defaults, take the days in these files as they are. A rewrite under `LEGACY` would change the days for them.
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
