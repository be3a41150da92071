package org.sparkzorder.footer

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.internal.SQLConf

/**
 * The session's settings that decide which column of a file is which column of the table, and what
 * its bytes mean.
 *
 * @param caseSensitive `spark.sql.caseSensitive`
 * @param fieldIds `spark.sql.parquet.fieldId.read.enabled`: columns are found by Parquet field id
 *   before their name
 * @param int96Conversion `spark.sql.parquet.int96TimestampConversion`: INT96 of foreign writers is
 *   moved to another zone
 */
final case class FooterSettings(caseSensitive: Boolean, fieldIds: Boolean, int96Conversion: Boolean = false)

object FooterSettings {
  def of(conf: SQLConf): FooterSettings = FooterSettings(
    conf.caseSensitiveAnalysis,
    conf.parquetFieldIdReadEnabled,
    conf.isParquetINT96TimestampConversion
  )
}

/** Reads footers of one format. One reader serves many files and many threads. */
trait FooterReader {

  /**
   * @throws NotDataFileException for a file that is not of the format, or is damaged
   * @throws java.io.IOException when the file is gone, may not be read, or the file system fails
   */
  def read(status: FileStatus): FileFooter
}
