package org.sparkzorder.footer

import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.StructType

import org.sparkzorder.stats.{ColumnKey, ColumnStats}

/**
 * What the footer of one data file says of it, judged for the columns that were asked for. Each of those is in `stats`, `untrusted` or
 * `missing`, or in none of them: then nothing is known of it and reading the file for it is not worth while.
 *
 * @param path the file's full path, for messages
 * @param rows rows of the file
 * @param schema the file's own columns as Spark would read them without a table, the `unreadable` top-level ones left out
 * @param unreadable what of the file Spark's types cannot hold exactly
 * @param timestamps how instants are stored, None when the file has none; the most general kind when there are several
 * @param codec compression in Spark's spelling (`snappy`, `zstd`..); None when there are no rows or several codecs
 * @param stats what may be relied upon
 * @param loose for columns in `untrusted`: bounds that hold for all values but NaN, whose presence is unknown
 * @param untrusted columns about which only the rows can tell
 * @param missing columns that the file has under no spelling: every row has null, or the column's default
 * @param sessionBound columns whose values depend on the settings of the session that reads them, see [[SessionBound]]
 * @param encryption what of it is encrypted
 * @param finerThanMicros timestamp columns that may hold digits below the microsecond, which only the rows can tell
 * @param traits what it has beside its rows; None when the reader was not asked for it
 * @param unsaidCalendar columns of dates and instants of which the file does not say the calendar
 * @param positional whether Spark reads the columns by their position, not their names (ORC files of old Hive)
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
    traits: Option[FileTraits] = None,
    unsaidCalendar: Seq[CalendarColumn] = Nil
) {

  /** Columns that are worth a read of the rows. Bounds beside which a NaN may hide leave out most of what exact ones do. */
  def onlyRowsTell: Set[ColumnKey] = if (loose.isEmpty) untrusted else untrusted -- loose.keys
}

/**
 * What of a file is encrypted: by Parquet's modular encryption, or ORC's of columns. Of that nothing is known outside of
 * the file: its statistics would be a copy that is not.
 *
 * @param footer whether all that the footer tells is a secret
 * @param columns by the names in the file, leaves for Parquet
 */
final case class Encryption(footer: Boolean, columns: Set[Seq[String]]) {
  def isNone: Boolean = !footer && columns.isEmpty

  @transient private lazy val folded: Set[Seq[String]] = columns.map(_.map(NameMatch.fold))
  @transient private lazy val foldedOrAbove: Set[Seq[String]] = folded.flatMap(_.inits)

  /** Whether statistics of the column, or of what lies below it, would tell something. Names are compared in any case. */
  def hides(path: Seq[String]): Boolean = footer || (columns.nonEmpty && {
    val column = path.map(NameMatch.fold)
    foldedOrAbove(column) || column.inits.exists(folded)
  })

  def ++(that: Encryption): Encryption = Encryption(footer || that.footer, columns ++ that.columns)

  /** What is encrypted here and not there, in words; None when there is nothing. */
  def beyond(that: Encryption): Option[String] =
    if (footer && !that.footer) Some("its footer")
    else columns.find(c => !that.columns(c)).map(c => s"the column ${quoteNameParts(c)}")
}

object Encryption {
  val none: Encryption = Encryption(footer = false, Set.empty)
}

/** A column of a file, by the names in the file, and why Spark cannot hold its values exactly. */
final case class Unreadable(column: Seq[String], reason: String)

/**
 * A Parquet column whose old values are other days in the Julian calendar than in today's.
 *
 * @param isInt96 whether Spark has the calendar from `int96RebaseMode`, and not from `datetimeRebaseMode`
 */
final case class CalendarColumn(column: Seq[String], isInt96: Boolean)

/** How a file stores instants (`TIMESTAMP`). Parquet has all three, ORC one of its own, which is not listed here. */
sealed abstract class TimestampKind(val sparkName: String) extends Serializable
object TimestampKind {
  case object Int96 extends TimestampKind("INT96")
  case object Micros extends TimestampKind("TIMESTAMP_MICROS")
  case object Millis extends TimestampKind("TIMESTAMP_MILLIS")

  /** The kind that holds what all of these hold: INT96 before microseconds before milliseconds. */
  def widest(kinds: Iterable[TimestampKind]): Option[TimestampKind] = Seq(Int96, Micros, Millis).find(kinds.toSet)
}

/**
 * Why the same file may give another session other values: then its statistics, even those taken from its rows, must not outlive the session.
 */
sealed trait SessionBound
object SessionBound {

  /** Any value may differ: column names that agree but for case, INT96 of foreign writers. */
  case object Always extends SessionBound

  /** Any value may differ, but what is null stays null: timestamps in ORC, which follow the JVM's zone. */
  case object ButForNulls extends SessionBound

  /** Only values before the calendar switch may differ: dates and instants of writers that do not say which calendar they used. */
  case object WhenAncient extends SessionBound
}

/** The file formats whose footers are known. */
sealed abstract class DataFormat(val name: String) extends Serializable
object DataFormat {
  case object Parquet extends DataFormat("parquet")
  case object Orc extends DataFormat("orc")

  /** By Spark's short name in any case. */
  def of(name: String): Option[DataFormat] = Seq(Parquet, Orc).find(_.name.equalsIgnoreCase(name))
}

/**
 * A file that is no intact data file of its format. The message names the file and holds no data.
 *
 * @param isGone whether there is no such file any more
 */
final class NotDataFileException(
    val path: String,
    val reason: String,
    cause: Throwable = null,
    val isGone: Boolean = false
) extends RuntimeException(s"$path: $reason", cause)
