package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.table.RecoveryErrors

/**
 * Spark's index of a table with partitions whose folder has no side folder. The location of the
 * table may have been changed after an operation had moved the partitions: then another side folder tells of
 * their late files. The names of the folders show it when the query lists them, so this costs nothing.
 */
private[sparkzorder] final class CheckedFileIndex(
    session: SparkSession,
    val base: CatalogFileIndex,
    options: Map[String, String],
    table: CatalogTable
) extends FileIndex {

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val listed = base.listFiles(partitionFilters, dataFilters)
    val homes = ScanSnapshots.homes(listed.flatMap(_.files).map(_.getPath.getParent))
    if (homes.isEmpty) listed
    else RecoveryErrors.told((_: Path) => table.identifier.quotedString) {
      val views = ScanSnapshots.of(session, new Listing(base), options, Some(table), None, homes)
      CorrectedListing.of(listed, views.getOrElse(Nil), base)
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
