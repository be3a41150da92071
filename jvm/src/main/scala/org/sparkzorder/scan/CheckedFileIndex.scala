package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType

/**
 * Spark's index of a table with partitions that had no side folder when the query was planned. Spark lists its
 * partitions when the query runs, and the table's first operation may have begun by then.
 */
private[sparkzorder] final class CheckedFileIndex(
    session: SparkSession,
    val base: CatalogFileIndex,
    options: Map[String, String],
    table: CatalogTable
) extends FileIndex {

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    def list = base.listFiles(partitionFilters, dataFilters)
    val first = list
    SideFolderLook.orElse((_: Path) => table.identifier.quotedString, first) {
      // Without a side folder after the listing, no operation had begun before it.
      ScanSnapshots.of(session, new Listing(base), options, Some(table), None)
        .fold(first)(CorrectedListing.whenRun(list, _, base))
    }
  }

  override def rootPaths: Seq[Path] = base.rootPaths
  override def inputFiles: Array[String] = base.inputFiles
  override def refresh(): Unit = base.refresh()
  override def sizeInBytes: Long = base.sizeInBytes
  override def partitionSchema: StructType = base.partitionSchema
  override def metadataOpsTimeNs: Option[Long] = base.metadataOpsTimeNs

  override def equals(other: Any): Boolean = other match {
    case that: CheckedFileIndex => base == that.base
    case _                      => false
  }
  override def hashCode: Int = base.hashCode
  override def toString: String = base.toString
}
