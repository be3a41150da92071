package org.sparkzorder.footer.orc

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.SparkSession

import org.sparkzorder.footer.{FileFooter, OtherZone, TimestampSearch}

/**
 * Finds wall clocks of ORC files that a rewrite would change, since the file's time zone is not that
 * of Spark's JVMs. A zone with daylight saving skips some clocks and has others twice.
 */
object AmbiguousClocks {

  /**
   * The first of these files with such a clock. Runs a Spark job, unless the footers rule it out for
   * all files.
   */
  def first(spark: SparkSession, files: Seq[(FileStatus, FileFooter)]): Option[(String, AmbiguousClock)] = {
    val doubtful = files.collect {
      case (status, footer) if footer.otherZone.isDefined && footer.rows > 0 => (status, footer.otherZone.get)
    }
    TimestampSearch.first(spark, "OPTIMIZE: clocks of other time zones", doubtful) {
      (conf, file: (FileStatus, OtherZone)) =>
        OrcTimestamps.firstAmbiguous(conf, file._1, file._2.zone).map(file._1.getPath.toString -> _)
    }
  }
}
