package org.sparkzorder.footer

import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import org.sparkzorder.footer.traits.FileTraits
import org.sparkzorder.stats.{ColumnKey, ColumnStats}

/**
 * What the footer of one data file says, judged for the columns that were asked for. Such a column
 * is in `stats`, in `untrusted` or in `missing`. If it is in none of them, nothing is known, and
 * reading the file for it is not worthwhile.
 *
 * @param path the file's full path, for messages
 * @param rows rows of the file
 * @param schema the file's own columns as Spark would read them without a table; `unreadable`
 *   top-level columns are left out
 * @param unreadable the columns that Spark's types cannot hold exactly
 * @param timestamps how instants are stored, None when the file has none; the most general kind when there are several
 * @param codec compression in Spark's spelling (`snappy`, `zstd`..); None when there are no rows or several codecs
 * @param stats statistics that can be relied upon
 * @param loose for columns in `untrusted`: bounds for all values but NaN; the column may or may not contain NaN
 * @param untrusted columns about which only the rows can tell
 * @param missing columns that the file has under no spelling: every row has null, or the column's default
 * @param sessionBound columns whose values depend on the settings of the session that reads them, see [[SessionBound]]
 * @param positional whether Spark finds the columns by position, not by name (ORC files of old versions of Hive)
 * @param encryption what of the file is encrypted
 * @param finerThanMicros timestamp columns that may hold digits below the microsecond, which only the rows can tell
 * @param otherZone set if the file has wall clocks, and its time zone is not that of this JVM. It is
 *   known only if the traits were asked for
 * @param traits what the file has beside its rows; None when the reader was not asked for it
 * @param hasDifferences whether byte strings may be encoded as differences (`DELTA_BYTE_ARRAY`)
 * @param unsaidCalendar columns of dates and instants whose calendar the file does not say
 */
final case class FileFooter(
    path: String,
    format: DataFormat,
    rows: Long,
    schema: StructType,
    unreadable: Seq[Unreadable],
    timestamps: Option[TimestampKind],
    codec: Option[String],
    stats: Map[ColumnKey, ColumnStats],
    loose: Map[ColumnKey, ColumnStats],
    untrusted: Set[ColumnKey],
    missing: Set[ColumnKey],
    sessionBound: Map[ColumnKey, SessionBound],
    positional: Boolean,
    encryption: Encryption = Encryption.none,
    finerThanMicros: Seq[Seq[String]] = Nil,
    otherZone: Option[OtherZone] = None,
    traits: Option[FileTraits] = None,
    unsaidCalendar: Seq[CalendarColumn] = Nil,
    hasDifferences: Boolean = false
) {

  /** Columns whose rows are worth reading. Loose bounds skip nearly as much as exact ones. */
  def onlyRowsTell: Set[ColumnKey] = if (loose.isEmpty) untrusted else untrusted -- loose.keys
}

/**
 * The encrypted parts of a file. The index stores nothing about encrypted columns, since their
 * statistics would be copies in plain text.
 *
 * @param footer whether the whole footer is secret
 * @param columns by the names in the file, leaves for Parquet
 */
final case class Encryption(footer: Boolean, columns: Set[Seq[String]]) {
  def isNone: Boolean = !footer && columns.isEmpty

  @transient private lazy val folded: Set[Seq[String]] = columns.map(_.map(ColumnFinder.fold))
  @transient private lazy val foldedOrAbove: Set[Seq[String]] = folded.flatMap(_.inits)

  /** Whether statistics of the column, or of a field below it, would reveal encrypted values, in any case. */
  def hides(path: Seq[String]): Boolean = footer || (columns.nonEmpty && {
    val column = path.map(ColumnFinder.fold)
    foldedOrAbove(column) || column.inits.exists(folded)
  })

  def ++(that: Encryption): Encryption = Encryption(footer || that.footer, columns ++ that.columns)

  /** What is encrypted here and not in `that`, in words; None when there is nothing. */
  def beyond(that: Encryption): Option[String] =
    if (footer && !that.footer) Some("its footer")
    else columns.find(c => !that.columns(c)).map(c => s"the column ${quoteNameParts(c)}")
}

object Encryption {
  val none: Encryption = Encryption(footer = false, Set.empty)
}

/** A column of a file, by its names in the file, and why Spark cannot hold its values exactly. */
final case class Unreadable(column: Seq[String], why: Unreadable.Why) {
  def reason: String = why.reason
}

object Unreadable {
  sealed abstract class Why(val reason: String) extends Serializable
  case object NoType extends Why("Spark has no type for it")
  case object Nanoseconds extends Why("it holds timestamps in nanoseconds")
  case object Quoted extends Why("ORC's reader takes a backtick in its name for a quote, and reads another name")
  case object Sequential extends Why(
        "the file does not name its writer's version, or an old one, and holds bytes as differences (DELTA_BYTE_ARRAY), " +
          "which parquet-java does not read then"
      )
  case object Unsigned extends Why("it holds unsigned 64-bit integers")
  case object Int96Moved
      extends Why("under spark.sql.parquet.int96TimestampConversion it is not read as the instant that it holds")
}

/**
 * A Parquet column whose old values mean other days in the Julian calendar. Spark has a setting of its own for INT96.
 */
final case class CalendarColumn(column: Seq[String], isInt96: Boolean)

/** How a Parquet file stores instants (`TIMESTAMP`). */
sealed abstract class TimestampKind(val sparkName: String) extends Serializable
object TimestampKind {
  case object Int96 extends TimestampKind("INT96")
  case object Micros extends TimestampKind("TIMESTAMP_MICROS")
  case object Millis extends TimestampKind("TIMESTAMP_MILLIS")

  /** The kind that can hold the values of all these kinds. */
  def widest(kinds: Iterable[TimestampKind]): Option[TimestampKind] = Seq(Int96, Micros, Millis).find(kinds.toSet)
}

/** Which values of the same file may differ in another session, so that their statistics must not be stored. */
sealed trait SessionBound
object SessionBound {

  /** Any value: column names that differ only in case, or INT96 of other writers than Spark. */
  case object Always extends SessionBound

  /** Any value, but nulls stay nulls: timestamps in ORC, which follow the JVM's time zone. */
  case object ButForNulls extends SessionBound

  /** Only values before the calendar switch: dates and instants of writers that do not say their calendar. */
  case object WhenAncient extends SessionBound
}

/** The file formats whose footers can be read. */
sealed abstract class DataFormat(val name: String) extends Serializable
object DataFormat {
  case object Parquet extends DataFormat("parquet")
  case object Orc extends DataFormat("orc")

  /** The format with Spark's short name, in any case. */
  def of(name: String): Option[DataFormat] = Seq(Parquet, Orc).find(_.name.equalsIgnoreCase(name))
}

/**
 * A file that is not an intact data file of its format. The message names the file and contains no data.
 *
 * @param isGone whether the file does not exist any more
 * @param isEncrypted whether it is encrypted, and this session cannot decrypt it
 */
final class NotDataFileException(
    val path: String,
    val reason: String,
    cause: Throwable = null,
    val isGone: Boolean = false,
    val isEncrypted: Boolean = false
) extends RuntimeException(s"$path: $reason", cause)

/**
 * The session's settings that decide which column of a file is which column of the table, and what its bytes mean.
 *
 * @param caseSensitive `spark.sql.caseSensitive`
 * @param fieldIds `spark.sql.parquet.fieldId.read.enabled`: columns are found by Parquet field id before their name
 * @param int96Conversion `spark.sql.parquet.int96TimestampConversion`: INT96 of foreign writers is
 *   moved to another zone
 */
final case class FooterSettings(caseSensitive: Boolean, fieldIds: Boolean, int96Conversion: Boolean = false)

object FooterSettings {
  def of(conf: SQLConf): FooterSettings = FooterSettings(
    conf.caseSensitiveAnalysis,
    conf.parquetFieldIdReadEnabled,
    conf.isParquetINT96TimestampConversion
  )
}
