package org.sparkzorder.footer

import org.sparkzorder.stats.{ColumnKey, ColumnStats}

/** What a footer is worth for one column. */
private[footer] sealed trait StatisticsTrust

private[footer] object StatisticsTrust {
  final case class Trusted(stats: ColumnStats) extends StatisticsTrust

  /** Bounds hold, but NaN may hide beside them. */
  final case class Loose(stats: ColumnStats) extends StatisticsTrust

  /** Only the rows can tell. */
  case object Untrusted extends StatisticsTrust

  /** The file has no such column. */
  case object Missing extends StatisticsTrust

  /** Unknown, and not worth reading rows for. */
  case object Unknown extends StatisticsTrust
}

/** A column's verdict together with whether its values depend on the session. */
private[footer] final case class JudgedColumn(key: ColumnKey, verdict: StatisticsTrust, bound: Option[SessionBound])

private[footer] final case class Judgement(judged: Seq[JudgedColumn]) {
  import StatisticsTrust._
  def stats: Map[ColumnKey, ColumnStats] = judged.collect { case JudgedColumn(k, Trusted(s), _) => k -> s }.toMap
  def loose: Map[ColumnKey, ColumnStats] = judged.collect { case JudgedColumn(k, Loose(s), _) => k -> s }.toMap
  def untrusted: Set[ColumnKey] = judged.collect { case JudgedColumn(k, Untrusted | Loose(_), _) => k }.toSet
  def missing: Set[ColumnKey] = judged.collect { case JudgedColumn(k, Missing, _) => k }.toSet
  def sessionBound: Map[ColumnKey, SessionBound] = judged.collect { case JudgedColumn(k, _, Some(b)) => k -> b }.toMap
}
