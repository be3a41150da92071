package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, SaveMode, SparkSession}
import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{FileIndex, InMemoryFileIndex, InsertIntoHadoopFsRelationCommand}
import org.apache.spark.sql.types.StructType

import org.sparkzorder.commit.VersionDirectory
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{TableRoots, Targets}

/**
 * A session keeps what it has looked up of a table, also when another driver has published the table in a new folder.
 * Then it would read the old one, from which VACUUM deletes the files.
 */
private[scan] object MovedTables {

  /**
   * An index of the folder that the catalog names now, if the scan has an earlier one. Partitions are looked up in the
   * catalog by each query, so this is about tables without.
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

/**
 * Refuses to overwrite a folder that a table has left, because another driver has moved it since this session looked it
 * up. The overwrite would not reach the table, and would delete the side folder. Partitions are looked up in the
 * catalog by each statement, so this is about tables without.
 */
class StaleOverwrites(session: SparkSession) extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = plan match {
    case i: InsertIntoHadoopFsRelationCommand if i.mode == SaveMode.Overwrite =>
      i.catalogTable.filter(_.partitionColumnNames.isEmpty).foreach(refuse(i.outputPath, _))
    case _ => ()
  }

  private def refuse(output: Path, table: CatalogTable): Unit = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    val path = Targets.qualified(classicSession, output)
    if (TableRoots.hasLeft(session, path))
      MovedTables.locationOf(classicSession, table).filter(_ != path).foreach { now =>
        classicSession.sessionState.catalog.refreshTable(table.identifier)
        throw ZOrderErrors.tableMoved(table.identifier.quotedString, now.toUri.getPath)
      }
  }
}
