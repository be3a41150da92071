package org.sparkzorder.footer.files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.types.StructType

import org.sparkzorder.footer.orc.OrcFooter
import org.sparkzorder.footer.parquet.ParquetFooter
import org.sparkzorder.footer.{DataFormat, FileFooter, FooterReader, FooterSettings}
import org.sparkzorder.stats.{ColumnKey, IndexableColumns}

/** Makes the footer reader of a format. */
object FooterReaders {

  /**
   * @param conf how to reach the files; it is copied
   * @param tableSchema the table's data columns; bounds are given in its types
   * @param columns the columns to judge
   * @param withTraits whether to look at what files have beside their rows, see
   *   [[org.sparkzorder.footer.traits.FileTraits]]
   */
  def of(
      format: DataFormat,
      conf: Configuration,
      tableSchema: StructType,
      columns: Seq[ColumnKey],
      settings: FooterSettings,
      withTraits: Boolean = false
  ): FooterReader = format match {
    case DataFormat.Parquet => new ParquetFooter(conf, tableSchema, columns, settings, withTraits)
    case DataFormat.Orc     => new OrcFooter(conf, tableSchema, columns, settings, withTraits)
  }

  /** The footer of one file, with all columns of the table that can have statistics. */
  def read(
      status: FileStatus,
      format: DataFormat,
      conf: Configuration,
      tableSchema: StructType,
      settings: FooterSettings
  ): FileFooter = of(format, conf, tableSchema, IndexableColumns.of(tableSchema), settings).read(status)
}
