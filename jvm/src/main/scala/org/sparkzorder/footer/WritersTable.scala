package org.sparkzorder.footer

import scala.util.matching.Regex

import org.sparkzorder.stats.{ColumnKey, ColumnStats}

/**
 * What is believed of the statistics in a writer's footers.
 *
 * @param bounds whether bounds hold for all values but NaN, in the order of the type, and are values of the column for
 *   all types but strings
 * @param booleans the same of booleans
 * @param nulls whether the nulls of a column are counted right
 * @param nullsOfFields whether a null struct, and a null or empty list, counts as a null of the leaves below it
 * @param excludesNaN whether a column with bounds has no NaN
 */
private[footer] final case class Belief(
    bounds: Boolean = false,
    booleans: Boolean = false,
    nulls: Boolean = false,
    nullsOfFields: Boolean = false,
    excludesNaN: Boolean = false
)

/** Versions of a writer, by its name in files: footers of the first to the last were compared with their rows. */
private[footer] final case class CheckedVersions(name: String, first: String, last: String, belief: Belief) {
  private def number(version: String): Long = version.split('.').foldLeft(0L)((n, part) => n * 10000 + part.toInt)

  def include(version: String): Boolean = number(first) <= number(version) && number(version) <= number(last)
}

/**
 * The writers whose footers are believed, as on `docs/writers.md`. Nothing is believed of all others, nor of a name
 * without a version, or with the version of a vendor's build.
 */
object WritersTable {

  /** An index has the number of the table that it was made by. It is of no use under another one. */
  val Number = 2

  private val flat = Belief(bounds = true, booleans = true, nulls = true)
  // parquet-java compares with `Double.compare`, so a NaN becomes the maximum, and its reader drops bounds with a NaN.
  private val java = flat.copy(nullsOfFields = true, excludesNaN = true)

  private[footer] val parquet: Seq[CheckedVersions] = Seq(
    CheckedVersions("parquet-mr", "1.10.0", "1.17.0", java),
    CheckedVersions("parquet-cpp-arrow", "11.0.0", "26.0.1", flat),
    CheckedVersions("parquet-rs", "50.0.0", "50.0.0", flat),
    CheckedVersions("datafusion", "37.1.0", "55.2.0", flat),
    CheckedVersions("DuckDB", "1.1.1", "2.0.1", flat),
    CheckedVersions("Polars (python)", "2.0.0", "2.0.0", flat.copy(bounds = false)),
    CheckedVersions("Polars (python)", "2.1.0", "2.1.0", flat)
  )

  private[footer] val orc: Seq[CheckedVersions] = Seq(
    CheckedVersions("ORC Java", "1.9.8", "2.3.0", java),
    CheckedVersions("ORC C++", "1.9.2", "2.2.2", flat)
  )

  private val Parquet = """(.+?) version v?(\d{1,4}\.\d{1,4}\.\d{1,4})(?: \(build [^)]*\))?""".r
  private val Orc = """(ORC \S+) (\d{1,4}\.\d{1,4}\.\d{1,4})""".r

  /** @param writer as a footer names it, null when it does not */
  private def of(table: Seq[CheckedVersions], form: Regex, writer: String): Belief = writer match {
    case form(name, version) => table.find(v => v.name == name && v.include(version)).fold(Belief())(_.belief)
    case _                   => Belief()
  }

  private[footer] def ofParquet(createdBy: String): Belief = of(parquet, Parquet, createdBy)
  private[footer] def ofOrc(software: String): Belief = of(orc, Orc, software)
}

/** How far a footer's statistics of one column can be trusted. */
private[footer] sealed trait StatisticsTrust

private[footer] object StatisticsTrust {
  final case class Trusted(stats: ColumnStats) extends StatisticsTrust

  /** The bounds hold for all values except NaN, which the column may contain as well. */
  final case class Loose(stats: ColumnStats) extends StatisticsTrust

  /** Only the rows can tell. */
  case object Untrusted extends StatisticsTrust

  case object Missing extends StatisticsTrust

  /** Nothing is known, and reading the rows would tell nothing useful. */
  case object Unknown extends StatisticsTrust
}

/** A column's verdict, and whether its values depend on the reading session. */
private[footer] final case class JudgedColumn(key: ColumnKey, verdict: StatisticsTrust, bound: Option[SessionBound])

private[footer] object JudgedColumn {

  /** The verdict for a column of which no statistics are found. */
  def without(key: ColumnKey, place: ColumnMatch[_]): JudgedColumn = place match {
    case ColumnMatch.Lacking(true)                        => JudgedColumn(key, StatisticsTrust.Missing, None)
    case ColumnMatch.Lacking(false) | ColumnMatch.Unclear =>
      JudgedColumn(key, StatisticsTrust.Untrusted, Some(SessionBound.Always))
    case _ => JudgedColumn(key, StatisticsTrust.Unknown, None)
  }
}

private[footer] final case class Judgement(judged: Seq[JudgedColumn]) {
  import StatisticsTrust._
  def stats: Map[ColumnKey, ColumnStats] = judged.collect { case JudgedColumn(k, Trusted(s), _) => k -> s }.toMap
  def loose: Map[ColumnKey, ColumnStats] = judged.collect { case JudgedColumn(k, Loose(s), _) => k -> s }.toMap
  def untrusted: Set[ColumnKey] = judged.collect { case JudgedColumn(k, Untrusted | Loose(_), _) => k }.toSet
  def missing: Set[ColumnKey] = judged.collect { case JudgedColumn(k, Missing, _) => k }.toSet
  def sessionBound: Map[ColumnKey, SessionBound] = judged.collect { case JudgedColumn(k, _, Some(b)) => k -> b }.toMap
}
