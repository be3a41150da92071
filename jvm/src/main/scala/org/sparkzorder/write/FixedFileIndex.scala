package org.sparkzorder.write

import java.util.Locale

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{
  FileFormat,
  FileIndex,
  FileStatusWithMetadata,
  HadoopFsRelation,
  PartitionDirectory
}
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

/**
 * Exactly the given files, never listed again and never pruned: a rewrite must read the very files that it replaces,
 * and an index those that it tells of. Each file is a partition of its own whose only value is the file's ordinal, so
 * each row knows its file.
 *
 * @param files in the order in which they arrived
 * @param ordinalColumn name of the partition column
 */
final class FixedFileIndex(val files: IndexedSeq[FileStatus], ordinalColumn: String) extends FileIndex {
  override def rootPaths: Seq[Path] = files.map(_.getPath)

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    files.zipWithIndex.map { case (file, i) => PartitionDirectory(InternalRow(i), Seq(FileStatusWithMetadata(file))) }

  override def inputFiles: Array[String] = files.map(_.getPath.toUri.toString).toArray
  override def refresh(): Unit = ()
  override def sizeInBytes: Long = files.map(_.getLen).sum
  override def partitionSchema: StructType = StructType(Seq(StructField(ordinalColumn, IntegerType, nullable = false)))

  override def toString: String = s"FixedFileIndex(${files.length} files)"
}

object FixedFileIndex {

  /**
   * A relation over exactly these files, which fails on a file that it cannot read. Its last column
   * is the file's ordinal, under a name that no data column has.
   *
   * @param readOptions of the table's own relation
   */
  def relation(
      session: SparkSession,
      format: FileFormat,
      schema: StructType,
      readOptions: Map[String, String],
      files: Seq[FileStatus]
  ): HadoopFsRelation = {
    val taken = schema.fieldNames.map(_.toLowerCase(Locale.ROOT)).toSet
    val ordinalColumn = Iterator.iterate("__zorder_file")(_ + "_").find(n => !taken(n)).get
    val index = new FixedFileIndex(files.toIndexedSeq, ordinalColumn)
    val options = RewriteSession.safeReadOptions(readOptions)
    HadoopFsRelation(index, index.partitionSchema, schema, None, format, options)(session)
  }
}
