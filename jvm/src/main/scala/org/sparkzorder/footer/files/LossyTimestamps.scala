package org.sparkzorder.footer.files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.SparkSession

import org.sparkzorder.footer.{DataFormat, FileFooter, OtherZone, TimestampSearch}
import org.sparkzorder.footer.orc.{AmbiguousClock, OrcTimestamps}
import org.sparkzorder.footer.parquet.Int96Values

/** The first file found with a timestamp that Spark cannot hold. */
final case class NanosecondsFound(path: String, column: Seq[String])

/**
 * Finds timestamps with digits below the microsecond. Spark's readers drop these digits, so the
 * Parquet and ORC libraries read the timestamp columns, but only of files that Spark did not write.
 */
object Nanoseconds {

  /**
   * The first of these files with such a timestamp. Runs a Spark job, unless the footers rule it out for all files.
   *
   * @throws java.io.IOException when a file cannot be read
   */
  def first(spark: SparkSession, files: Seq[(FileStatus, FileFooter)]): Option[NanosecondsFound] = {
    val doubtful = files.collect {
      case (status, footer) if footer.finerThanMicros.nonEmpty && footer.rows > 0 => (status, footer.format)
    }
    TimestampSearch.first(spark, "OPTIMIZE: timestamps finer than microseconds", doubtful) {
      (conf, file: (FileStatus, DataFormat)) => columnOf(conf, file._1, file._2)
    }
  }

  private def columnOf(conf: Configuration, file: FileStatus, format: DataFormat): Option[NanosecondsFound] = {
    val column = format match {
      case DataFormat.Parquet => Int96Values.firstFiner(conf, file)
      case DataFormat.Orc     => OrcTimestamps.firstFiner(conf, file)
    }
    column.map(NanosecondsFound(file.getPath.toString, _))
  }
}

/**
 * Finds wall clocks of ORC files that a rewrite would change, since the file's time zone is not that
 * of Spark's JVMs. A zone with daylight saving skips some clocks and has others twice.
 */
object AmbiguousClocks {

  /** The first of these files with such a clock. Runs a Spark job, unless the footers rule it out for all files. */
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
