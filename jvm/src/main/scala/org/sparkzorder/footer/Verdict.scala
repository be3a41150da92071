package org.sparkzorder.footer

import org.sparkzorder.stats.{ColumnKey, ColumnStats}

/** What a footer is worth for one column. */
private[footer] sealed trait Verdict

private[footer] object Verdict {
  final case class Trusted(stats: ColumnStats) extends Verdict

  /** Bounds hold, but NaN may hide beside them. */
  final case class Loose(stats: ColumnStats) extends Verdict

  /** Only the rows can tell. */
  case object Untrusted extends Verdict

  /** The file has no such column. */
  case object Missing extends Verdict

  /** Unknown, and not worth reading rows for. */
  case object Unknown extends Verdict
}

/** A column's verdict together with whether its values depend on the session. */
private[footer] final case class Judged(key: ColumnKey, verdict: Verdict, bound: Option[SessionBound])

private[footer] final case class Judgement(judged: Seq[Judged]) {
  import Verdict._
  def stats: Map[ColumnKey, ColumnStats] = judged.collect { case Judged(k, Trusted(s), _) => k -> s }.toMap
  def loose: Map[ColumnKey, ColumnStats] = judged.collect { case Judged(k, Loose(s), _) => k -> s }.toMap
  def untrusted: Set[ColumnKey] = judged.collect { case Judged(k, Untrusted | Loose(_), _) => k }.toSet
  def missing: Set[ColumnKey] = judged.collect { case Judged(k, Missing, _) => k }.toSet
  def sessionBound: Map[ColumnKey, SessionBound] = judged.collect { case Judged(k, _, Some(b)) => k -> b }.toMap
}
