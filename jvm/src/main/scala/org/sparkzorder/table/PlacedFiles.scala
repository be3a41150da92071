package org.sparkzorder.table

import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{PartitionDirectory, PartitionSpec, PartitioningAwareFileIndex}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.compat._

/**
 * A file and its path in the table. The two differ when an operation has moved the file.
 *
 * @param path the file's path in the table, which decides its partition
 */
final case class PlacedFile(path: Path, status: FileStatus) {

  /** The file as a listing of the table would show it. */
  def asNamed: FileStatus = new FileStatus(
    status.getLen,
    false,
    status.getReplication.toInt,
    status.getBlockSize,
    status.getModificationTime,
    path
  )
}

/**
 * A list of files, some of which are not where the table has them. Partitions and file filters use
 * their names in the table.
 *
 * @param options of the relation
 * @param roots the folders that the query reads; None if it names the files one by one
 */
final class PlacedFiles(
    session: SparkSession,
    options: Map[String, String],
    schema: Option[StructType],
    files: Seq[PlacedFile],
    roots: Option[Seq[Path]] = None
) extends PartitioningAwareFileIndex(session, options, schema) {
  private val byName = files.map(f => f.path -> f.status).toMap
  private val named = files.map(_.asNamed)

  override protected val leafFiles: mutable.LinkedHashMap[Path, FileStatus] =
    mutable.LinkedHashMap.from(named.map(s => s.getPath -> s))
  override protected val leafDirToChildrenFiles: Map[Path, Array[FileStatus]] =
    named.toArray.groupBy(_.getPath.getParent)
  override val rootPaths: Seq[Path] = roots.getOrElse(files.map(_.path))

  private lazy val partitions = inferPartitioning()
  override def partitionSpec(): PartitionSpec = partitions

  override def refresh(): Unit = ()

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    super.listFiles(partitionFilters, dataFilters).map { directory =>
      directory.copy(files = directory.files.map(f => f.copy(fileStatus = byName(f.getPath))))
    }

  override def inputFiles: Array[String] = files.map(_.status.getPath.toUri.toString).toArray

  override def equals(other: Any): Boolean = other match {
    case that: PlacedFiles => placed == that.placed
    case _                 => false
  }
  override def hashCode: Int = placed.hashCode

  private def placed: Set[(Path, Path)] = files.map(f => f.path -> f.status.getPath).toSet
}
