package org.sparkzorder.table

import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat

/** The format of a relation that Spark's own reader reads. */
object SparkFormat {

  /** The format, parquet or orc, if exactly Spark's own reader reads the files; else None. */
  def of(relation: HadoopFsRelation): Option[String] = relation.fileFormat.getClass match {
    case c if c == classOf[ParquetFileFormat] => Some("parquet")
    case c if c == classOf[OrcFileFormat]     => Some("orc")
    case _                                    => None
  }
}
