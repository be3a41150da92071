package org.sparkzorder.write

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata, PartitionDirectory}
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

/**
 * Exactly the given files, never listed anew and never pruned: what a rewrite reads must be what it retires.
 * Each file is a partition of its own, whose one value is the file's ordinal, so that a row knows which file it came
 * from.
 *
 * @param files in the order in which their rows are said to have arrived
 * @param ordinalColumn name of the partition column
 */
final class FixedFileIndex(val files: IndexedSeq[FileStatus], ordinalColumn: String) extends FileIndex {
  override def rootPaths: Seq[Path] = files.map(_.getPath)

  override def listFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]
  ): Seq[PartitionDirectory] =
    files.zipWithIndex.map { case (file, i) => PartitionDirectory(InternalRow(i), Seq(FileStatusWithMetadata(file))) }

  override def inputFiles: Array[String] = files.map(_.getPath.toUri.toString).toArray
  override def refresh(): Unit = ()
  override def sizeInBytes: Long = files.map(_.getLen).sum
  override def partitionSchema: StructType =
    StructType(Seq(StructField(ordinalColumn, IntegerType, nullable = false)))

  override def toString: String = s"FixedFileIndex(${files.length} files)"
}
