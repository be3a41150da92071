package org.sparkzorder.write

import org.apache.spark.sql.{SparkSession => Session}
import org.apache.spark.sql.classic.SparkSession

import org.sparkzorder.conf.SessionCopy

/**
 * Sessions for rewrites: with the caller's settings, except those that could change rows or the
 * number of files.
 */
object RewriteSession {

  // Adaptive execution would merge small partitions, and so files. A file that cannot be read must
  // fail the rewrite, or its rows would be lost. Padding on read would change stored values. A damaged value would get a
  // checksum that fits.
  private val fixed = Map(
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.files.ignoreCorruptFiles" -> "false",
    "spark.sql.files.ignoreMissingFiles" -> "false",
    "spark.sql.readSideCharPadding" -> "false",
    "parquet.page.verify-checksum.enabled" -> "true",
    "spark.sql.parquet.datetimeRebaseModeInWrite" -> "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite" -> "CORRECTED"
  )

  /** @param overrides settings that win over the caller's, but not over the fixed ones */
  def of(caller: SparkSession, overrides: Map[String, String]): SparkSession = {
    // The two jobs must see the same splits, even when executors come and go in between.
    val splits = "spark.sql.files.minPartitionNum"
    val parallelism = splits -> caller.sparkContext.defaultParallelism.toString
    SessionCopy.of(
      caller,
      Map(parallelism).filterNot(s => caller.sessionState.conf.contains(s._1)) ++ overrides ++ fixed
    )
  }

  /** Runs the body with this session as the thread's active one. */
  private[write] def active[T](session: SparkSession)(body: => T): T = {
    val before = Session.getActiveSession
    Session.setActiveSession(session)
    try body
    finally before.fold(Session.clearActiveSession())(Session.setActiveSession)
  }

  /** The options of a read that skips no file, whatever the table and the active session say. */
  def safeReadOptions(options: Map[String, String]): Map[String, String] = {
    val skipping = Seq("ignoreCorruptFiles", "ignoreMissingFiles")
    options.filterNot { case (key, _) => skipping.exists(_.equalsIgnoreCase(key)) } ++ skipping.map(_ -> "false")
  }
}
