package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic
import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.execution.datasources.{FileIndex, InMemoryFileIndex}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.commit.VersionDirectory
import org.sparkzorder.table.Targets

/**
 * A session keeps what it has looked up of a table, also when another driver has published the table
 * in a new folder. Then it would read the old one, from which VACUUM deletes the files.
 */
private[scan] object MovedTables {

  /**
   * An index of the folder that the catalog names now, if the scan has an earlier one. Partitions
   * are looked up in the catalog by each query, so this is about tables without.
   */
  def current(
      session: classic.SparkSession,
      location: FileIndex,
      options: Map[String, String],
      schema: StructType,
      table: Option[CatalogTable],
      views: Seq[ScanSnapshot]
  ): Option[InMemoryFileIndex] =
    for {
      t <- table if t.partitionColumnNames.isEmpty
      root <- location.rootPaths.headOption
      if views.exists(_.location.exists(_ != Targets.qualified(session, root)))
      now <- locationOf(session, t)
      if now != Targets.qualified(session, root) && views.exists(v => VersionDirectory.isOf(v.root, now))
    } yield new InMemoryFileIndex(session, Seq(now), options, Some(schema))

  /** None if the table was dropped or has another name by now. */
  def locationOf(session: classic.SparkSession, table: CatalogTable): Option[Path] =
    try Some(Targets.qualified(
        session,
        new Path(session.sessionState.catalog.getTableMetadata(table.identifier).location)
      ))
    catch { case _: NoSuchTableException | _: NoSuchNamespaceException => None }
}
