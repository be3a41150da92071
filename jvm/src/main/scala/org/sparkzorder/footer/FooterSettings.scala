package org.sparkzorder.footer

import org.apache.spark.sql.internal.SQLConf

/**
 * The session's settings that decide which column of a file is which column of the table.
 *
 * @param caseSensitive `spark.sql.caseSensitive`
 * @param fieldIds `spark.sql.parquet.fieldId.read.enabled`: columns are found by Parquet field id before their name
 */
final case class FooterSettings(caseSensitive: Boolean, fieldIds: Boolean)

object FooterSettings {
  def of(conf: SQLConf): FooterSettings = FooterSettings(conf.caseSensitiveAnalysis, conf.parquetFieldIdReadEnabled)
}
