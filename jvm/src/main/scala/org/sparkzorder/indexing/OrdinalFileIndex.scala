package org.sparkzorder.indexing

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata, PartitionDirectory}
import org.apache.spark.sql.types.{IntegerType, StructType}

/**
 * Exactly these files. Each is a partition of its own whose only value is the file's ordinal, so
 * each row knows its file.
 */
private[sparkzorder] final class OrdinalFileIndex(files: Seq[(Int, FileStatus)]) extends FileIndex {
  override def rootPaths: Seq[Path] = files.map(_._2.getPath)
  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    files.map { case (i, status) => PartitionDirectory(InternalRow(i), Seq(FileStatusWithMetadata(status, Map.empty))) }
  override def inputFiles: Array[String] = files.map(_._2.getPath.toString).toArray
  override def refresh(): Unit = ()
  override def sizeInBytes: Long = files.map(_._2.getLen).sum
  override def partitionSchema: StructType = OrdinalFileIndex.schema
}

private[sparkzorder] object OrdinalFileIndex {
  val column = "__zorder_unit"
  val schema: StructType = new StructType().add(column, IntegerType, nullable = false)
}
