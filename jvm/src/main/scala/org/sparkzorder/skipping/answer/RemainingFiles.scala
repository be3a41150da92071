package org.sparkzorder.skipping.answer

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.skipping.{ReportingIndex, SkippingReport}

/**
 * The files of a scan that must be read, since the index does not answer for them. They are never listed again: a file
 * that has been answered for must not come back under another name.
 *
 * @param rootPaths of the scan
 * @param files those of the partitions that the query reads
 * @param before the index that also lists the files that are answered for
 */
private[skipping] final class RemainingFiles(
    override val rootPaths: Seq[Path],
    override val partitionSchema: StructType,
    private val files: Seq[PartitionDirectory],
    override val report: Option[SkippingReport],
    override val before: FileIndex
) extends ReportingIndex {

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    files

  override def inputFiles: Array[String] = files.flatMap(_.files.map(_.getPath.toUri.toString)).toArray
  override def refresh(): Unit = ()
  override lazy val sizeInBytes: Long = files.iterator.flatMap(_.files).map(_.getLen).sum

  override def equals(other: Any): Boolean = other match {
    case that: RemainingFiles => rootPaths == that.rootPaths && files == that.files
    case _                    => false
  }
  override def hashCode: Int = (rootPaths, files.size).hashCode
  override def toString: String = s"RemainingFiles(${rootPaths.mkString(", ")})"
}
