package org.sparkzorder.footer

import org.sparkzorder.stats.{ColumnKey, ColumnStats}

/** How far a footer's statistics of one column can be trusted. */
private[footer] sealed trait StatisticsTrust

private[footer] object StatisticsTrust {
  final case class Trusted(stats: ColumnStats) extends StatisticsTrust

  /** The bounds hold for all values except NaN, which the column may contain as well. */
  final case class Loose(stats: ColumnStats) extends StatisticsTrust

  /** Only the rows can tell. */
  case object Untrusted extends StatisticsTrust

  /** The file has no such column. */
  case object Missing extends StatisticsTrust

  /** Nothing is known, and reading the rows would tell nothing useful. */
  case object Unknown extends StatisticsTrust
}

/** A column's verdict, and whether its values depend on the reading session. */
private[footer] final case class JudgedColumn(key: ColumnKey, verdict: StatisticsTrust, bound: Option[SessionBound])

private[footer] object JudgedColumn {

  /** The verdict for a column of which no statistics are found. */
  def without(key: ColumnKey, place: Place[_]): JudgedColumn = place match {
    case Place.Lacking(true)                  => JudgedColumn(key, StatisticsTrust.Missing, None)
    case Place.Lacking(false) | Place.Unclear =>
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
