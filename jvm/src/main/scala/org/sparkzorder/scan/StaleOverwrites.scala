package org.sparkzorder.scan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand
import org.apache.spark.sql.{classic, SaveMode, SparkSession}

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{TableRoots, Targets}

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
