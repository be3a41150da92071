package org.sparkzorder.commit.log

/**
 * How much of the history is kept.
 *
 * @param retentionMillis the age at which an operation without retired files is forgotten
 * @param maxOperations with more operations than this, the oldest without retired files are forgotten
 * @param whole so many of the newest records stay whole files, whatever VACUUM deletes: queries compare
 *              listings with them, and streams learn from them where rows went
 */
final case class HistorySettings(
    retentionMillis: Long = 30L * 24 * 3600 * 1000,
    maxOperations: Int = 1000,
    whole: Int = HistorySettings.Whole
)

object HistorySettings {

  /** A query reads no more records than this. */
  val Whole = 16
}
