package org.apache.spark.sql.execution.streaming

import org.apache.spark.sql.execution.streaming

/** Names for the classes of streams that Spark 4.1 has in this package, and that the older ones have above it. */
package object runtime {
  type FileStreamSource = streaming.FileStreamSource
  type FileStreamSourceLog = streaming.FileStreamSourceLog
  type StreamingRelation = streaming.StreamingRelation
  val FileStreamSourceLog: streaming.FileStreamSourceLog.type = streaming.FileStreamSourceLog
  val FileStreamSourceOffset: streaming.FileStreamSourceOffset.type = streaming.FileStreamSourceOffset
}
