package org.sparkzorder.footer

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.types.StructType

import org.sparkzorder.stats.{ColumnKey, IndexableColumns}

/** Reads footers of one format. Made once and used for many files, from many threads. */
trait FooterReader {

  /**
   * @throws NotDataFileException for a file that is not of the format, or is damaged
   * @throws java.io.IOException when the file is gone, may not be read, or the file system fails
   */
  def read(status: FileStatus): FileFooter
}

object FooterReader {

  /**
   * @param conf how to reach the files; it is copied
   * @param tableSchema the data columns' schema in force, under whose types bounds are given
   * @param columns the columns to judge
   * @param withTraits whether to look at what files have beside their rows, see [[FileTraits]]
   */
  def apply(
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

  /** One file, all columns of the table that can have statistics. */
  def read(
      status: FileStatus,
      format: DataFormat,
      conf: Configuration,
      tableSchema: StructType,
      settings: FooterSettings
  ): FileFooter = apply(format, conf, tableSchema, IndexableColumns.of(tableSchema), settings).read(status)
}
