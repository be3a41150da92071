package org.sparkzorder.stream

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType

/** Stands for the files of a batch that cannot be read. The error is thrown when the batch runs. */
private[stream] final class FailingFiles(base: FileIndex, error: Throwable) extends FileIndex {
  override def rootPaths: Seq[Path] = base.rootPaths
  override def partitionSchema: StructType = base.partitionSchema
  override def refresh(): Unit = ()
  override def inputFiles: Array[String] = throw error
  override def sizeInBytes: Long = throw error
  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    throw error
}
