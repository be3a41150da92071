package org.sparkzorder.footer

import org.apache.parquet.VersionParser
import org.apache.parquet.VersionParser.VersionParseException

/**
 * What is known of the program that wrote a Parquet file.
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

  /** Spark's own test for INT96 (`spark.sql.parquet.int96TimestampConversion` spares these). */
  val isParquetJava: Boolean = createdBy != null && createdBy.startsWith("parquet-mr")

  /**
   * Whether bounds of binary decimals are in the order of the numbers. Footers had one min/max pair without a stated order first; parquet-java
   * writes `min_value`/`max_value` in the type's order since 1.10, Arrow C++ correctly for decimals since long before 4.0.
   */
  val ordersDecimals: Boolean =
    (application == "parquet-mr" && atLeast(1, 10)) || (application == "parquet-cpp-arrow" && atLeast(4, 0))

  /**
   * Whether a chunk with bounds has no NaN. parquet-java from 1.10 to 1.17 compares with `Double.compare`, so a NaN becomes the maximum, and its
   * reader drops bounds with a NaN. Not assumed of later versions, which may learn to count NaNs apart.
   */
  val boundsExcludeNaN: Boolean = application == "parquet-mr" && atLeast(1, 10) && !atLeast(1, 18)

  /**
   * Whether the rows come from Spark, which knows microseconds only. Others copy Spark's keys into files of their own, and
   * parquet-java's tools put files of several writers into one, but then they say so.
   */
  val isSpark: Boolean = isParquetJava && keys("original.created.by").isEmpty &&
    (keys("org.apache.spark.version").isDefined || keys(SparkRowTypes.key).isDefined)

  private val sparkVersion = keys("org.apache.spark.version")

  /** Whether the file says itself which calendar dates and INT64 instants are in, so that no setting of the reader decides. */
  val saysCalendar: Boolean = sparkVersion.isDefined

  /** Written by Spark 3 or later and not in legacy mode: stored dates and INT64 instants mean what they say. */
  val proleptic: Boolean = sparkVersion.exists(_ >= "3.0.0") && keys("org.apache.spark.legacyDateTime").isEmpty

  /** Legacy instants need the writer's time zone; without it the reader's JVM decides. */
  val saysTimeZone: Boolean = keys("org.apache.spark.timeZone").isDefined

  val prolepticInt96: Boolean = sparkVersion.exists(_ >= "3.1.0") && keys("org.apache.spark.legacyINT96").isEmpty
}
