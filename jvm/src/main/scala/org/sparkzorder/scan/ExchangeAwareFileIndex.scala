package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{
  CatalogFileIndex => SparkIndex,
  FileIndex,
  InMemoryFileIndex,
  PartitionDirectory
}
import org.apache.spark.sql.{classic, SparkSession}

/**
 * Spark's index of a table with partitions that had no side folder when the query was planned. Spark lists its
 * partitions when the query runs, and the table's first operation may have begun by then. In all else it is Spark's
 * index: it is equal to it, and plans show it by the same name.
 */
private[sparkzorder] object ExchangeAwareFileIndex {

  def apply(session: SparkSession, base: SparkIndex, options: Map[String, String], table: CatalogTable): FileIndex =
    new CatalogFileIndex(session, base, options, table)

  /** The index that Spark made. */
  def unapply(index: FileIndex): Option[SparkIndex] = index match {
    case checked: CatalogFileIndex => Some(checked.base)
    case _                         => None
  }

  // Each of Spark's indexes keeps the files that it has listed. So the base lists them.
  private final class CatalogFileIndex(
      session: SparkSession,
      val base: SparkIndex,
      options: Map[String, String],
      relationTable: CatalogTable
  ) extends SparkIndex(session, base.table, base.sizeInBytes) {

    override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
      def list = base.listFiles(partitionFilters, dataFilters)
      val first = list
      SideFolderLook.orElse((_: Path) => table.identifier.quotedString, first) {
        // Without a side folder after the listing, no operation had begun before it.
        val classicSession = session.asInstanceOf[classic.SparkSession]
        new ScanSnapshots(classicSession, new Listing(base), options, Some(relationTable), None)
          .views.fold(first)(ExchangeAwareListing.whenRun(list, _, base))
      }
    }

    override def filterPartitions(filters: Seq[Expression]): InMemoryFileIndex = base.filterPartitions(filters)
    override def inputFiles: Array[String] = base.inputFiles
    override def refresh(): Unit = base.refresh()
    override def metadataOpsTimeNs: Option[Long] = base.metadataOpsTimeNs
  }
}
