package org.sparkzorder.footer.parquet

import org.sparkzorder.footer.{Belief, WritersTable}
import org.sparkzorder.footer.traits.KeyValues

/**
 * The program that wrote a Parquet file, as far as the footer tells.
 *
 * @param createdBy the footer's `created_by`, null when absent
 * @param keys the footer's key-value metadata
 */
private[footer] final class ParquetWriter(createdBy: String, keys: String => Option[String]) {

  /**
   * Spark's own test for INT96: `spark.sql.parquet.int96TimestampConversion` does not touch these
   * files.
   */
  val isParquetJava: Boolean = createdBy != null && createdBy.startsWith("parquet-mr")

  /** Chunks of other writers may have been copied into the file as they were, with their statistics. */
  private val isJoined = keys(KeyValues.OriginalWriter).isDefined

  /**
   * What is believed of the file's statistics. Parquet.Net moves clocks by the time zone of its machine, writers in
   * JavaScript compare UTF-16 units, and others counted nulls wrong or stored bounds of other pages. Spark's reader
   * pushes down no filter that would show it.
   */
  val belief: Belief = if (isJoined) Belief() else WritersTable.ofParquet(createdBy)

  /**
   * Whether the rows come from Spark, which knows microseconds only. Other writers copy Spark's
   * keys into their own files, so the writer must be parquet-java. parquet-java's tools join files
   * of several writers, but then they say so.
   */
  val isSpark: Boolean = isParquetJava && !isJoined &&
    (keys("org.apache.spark.version").isDefined || keys(SparkRowTypes.key).isDefined)

  private val sparkVersion = keys("org.apache.spark.version")

  /**
   * Whether the file says the calendar of its dates and INT64 instants, so that the reader's
   * settings do not matter.
   */
  val saysCalendar: Boolean = sparkVersion.isDefined

  /**
   * Whether Spark 3 or later wrote the file, not in legacy mode: then stored dates and INT64
   * instants are in the proleptic calendar.
   */
  val proleptic: Boolean = sparkVersion.exists(_ >= "3.0.0") && keys("org.apache.spark.legacyDateTime").isEmpty

  /**
   * Whether the file says the writer's time zone, which legacy instants need. Without it the
   * reader's JVM decides.
   */
  val saysTimeZone: Boolean = keys("org.apache.spark.timeZone").isDefined

  val prolepticInt96: Boolean = sparkVersion.exists(_ >= "3.1.0") && keys("org.apache.spark.legacyINT96").isEmpty
}
