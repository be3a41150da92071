package org.sparkzorder.footer

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.SparkSession

/**
 * Finds wall clocks of ORC files that do not exist in the time zone of Spark's JVMs. Spark reads them
 * as later ones, so a rewrite would change them for all other readers.
 */
object SkippedClocks {

  /**
   * The first of these files with such a wall clock, and its column. Runs a Spark job, unless the
   * footers rule it out for all files.
   */
  def first(spark: SparkSession, files: Seq[(FileStatus, FileFooter)]): Option[(String, Seq[String])] = {
    val doubtful = files.collect { case (status, footer) if footer.clocksOfOtherZone && footer.rows > 0 => status }
    TimestampSearch.first(spark, "OPTIMIZE: clocks that the time zone skips", doubtful) { (conf, file: FileStatus) =>
      OrcTimestamps.firstSkipped(conf, file).map(file.getPath.toString -> _)
    }
  }
}
