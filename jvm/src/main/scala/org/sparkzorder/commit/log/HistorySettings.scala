package org.sparkzorder.commit.log

import org.sparkzorder.commit.SideListing
import org.sparkzorder.compat._

/**
 * How much of the history is kept. VACUUM deletes the records of other operations, so that the side folder stays small
 * however many there were.
 *
 * @param retentionMillis the age at which an operation without retired files is forgotten
 * @param maxOperations with more operations than this, the oldest without retired files are forgotten
 * @param whole so many of the newest are always kept: queries compare listings with them, and streams learn from them
 *              where rows went
 */
final case class HistorySettings(
    retentionMillis: Long = 30L * 24 * 3600 * 1000,
    maxOperations: Int = 1000,
    whole: Int = HistorySettings.Whole
) {

  /**
   * The versions to forget. Beside the newest, these stay: the newest OPTIMIZE of the whole table, whose layout the next
   * one takes; the newest for each partition that tells where the catalog has it; and what a RESTORE undid, as long as the RESTORE
   * stays.
   *
   * @param history newest first
   * @param now milliseconds since 1970
   * @param isGone whether an operation has no retired files any more
   */
  def forgotten(history: Seq[HistoryEntry], now: Long)(isGone: HistoryEntry => Boolean): Set[Long] = {
    val located = history.flatMap(e => e.record.locationChanges.map(_.partition -> e)).distinctBy(_._1).map(_._2)
    val needed = (history.find(_.record.isOfWholeTable) ++ located).map(_.record.version).toSet
    def isOld(e: HistoryEntry, i: Int) = now - e.time > retentionMillis || i >= maxOperations
    def target(e: HistoryEntry) = History.target(e.record).getOrElse(Long.MaxValue)
    val (_, gone) = history.zipWithIndex.foldLeft((Long.MaxValue, Set.empty[Long])) { case ((reach, gone), (e, i)) =>
      val version = e.record.version
      if (i >= math.max(1, whole) && version <= reach && isOld(e, i) && !needed(version) && isGone(e))
        (reach, gone + version)
      else (math.min(reach, target(e)), gone)
    }
    gone
  }
}

object HistorySettings {

  /** A query reads no more records than this. */
  val Whole: Int = SideListing.NeverForgotten
}
