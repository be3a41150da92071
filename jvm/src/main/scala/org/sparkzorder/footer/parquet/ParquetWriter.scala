package org.sparkzorder.footer.parquet

import org.apache.parquet.VersionParser
import org.apache.parquet.VersionParser.VersionParseException

import org.sparkzorder.footer.traits.KeyValues

/**
 * The program that wrote a Parquet file, as far as the footer tells.
 *
 * @param createdBy the footer's `created_by`, null when absent
 * @param keys the footer's key-value metadata
 */
private[footer] final class ParquetWriter(createdBy: String, keys: String => Option[String]) {

  private val (application, version) =
    try {
      val parsed = VersionParser.parse(createdBy)
      val semantic = if (parsed.hasSemanticVersion) Some(parsed.getSemanticVersion) else None
      (parsed.application, semantic.map(v => (v.major, v.minor)))
    } catch { case _: VersionParseException | _: NullPointerException => ("", None) }

  private def atLeast(major: Int, minor: Int): Boolean = version.exists { case (a, b) =>
    a > major || (a == major && b >= minor)
  }

  /**
   * Spark's own test for INT96: `spark.sql.parquet.int96TimestampConversion` does not touch these
   * files.
   */
  val isParquetJava: Boolean = createdBy != null && createdBy.startsWith("parquet-mr")

  /**
   * Whether the bounds of binary decimals are in the order of the numbers. Old footers have one
   * pair of min and max whose order they do not state. parquet-java writes `min_value` and
   * `max_value` in the type's order since 1.10; Arrow C++ was right for decimals long before 4.0.
   */
  val ordersDecimals: Boolean =
    (application == "parquet-mr" && atLeast(1, 10)) || (application == "parquet-cpp-arrow" && atLeast(4, 0))

  /** Chunks of other writers may have been copied into the file as they were, with their statistics. */
  private val isJoined = keys(KeyValues.OriginalWriter).isDefined

  /**
   * Whether bounds are those of the stored values, in the order of the type. Parquet.Net moves clocks by the time zone of
   * its machine, writers in JavaScript compare UTF-16 units, and others stored bounds of other pages. Spark's reader
   * pushes down no filter that would show it. So only writers count whose files our tests read.
   */
  val isKnown: Boolean = createdBy != null && !isJoined &&
    Seq("parquet-mr", "parquet-cpp", "DuckDB", "parquet-rs", "Polars").exists(createdBy.startsWith)

  /**
   * Whether a chunk with bounds has no NaN. parquet-java from 1.10 to 1.17 compares with
   * `Double.compare`, so a NaN becomes the maximum, and its reader drops bounds with a NaN. Later
   * versions may count NaNs separately, so nothing is assumed of them.
   */
  val boundsExcludeNaN: Boolean = application == "parquet-mr" && atLeast(1, 10) && !atLeast(1, 18)

  /**
   * Whether a null struct, and a null or empty list, counts as a null of the leaves below it.
   * parquet-java counts every entry without a value. Nothing is assumed of other writers: Arrow C++ counts a
   * leaf's own nulls only if the leaf is dictionary-encoded in memory.
   */
  val countsNullsAbove: Boolean = application == "parquet-mr" && atLeast(1, 10) && !isJoined

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
