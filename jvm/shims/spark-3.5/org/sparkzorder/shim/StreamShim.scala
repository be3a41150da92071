package org.sparkzorder.shim

import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.execution.streaming.{
  FileStreamSource => SparkFileStreamSource,
  FileStreamSourceLog => SparkFileStreamSourceLog,
  FileStreamSourceOffset,
  StreamingRelation => SparkStreamingRelation
}
import org.apache.spark.sql.execution.streaming.Offset

/** Spark's streams of files, whose package is not the same in all minors. */
object StreamShim {
  type FileStreamSource = SparkFileStreamSource
  type FileStreamSourceLog = SparkFileStreamSourceLog
  type StreamingRelation = SparkStreamingRelation

  val LogVersion: Int = SparkFileStreamSourceLog.VERSION

  /** The number of the newest part of the source's log that an offset covers. */
  def logOffset(offset: Offset): Long = FileStreamSourceOffset(offset).logOffset
}

/** A copy of Spark's description of a source, to be extended. The number of its fields differs. */
class DataSourceCopy(source: DataSource)
    extends DataSource(
      source.sparkSession,
      source.className,
      source.paths,
      source.userSpecifiedSchema,
      source.partitionColumns,
      source.bucketSpec,
      source.options,
      source.catalogTable
    )
