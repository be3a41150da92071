package org.sparkzorder.command

import org.apache.spark.sql.SparkSession

import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.statement.Target
import org.sparkzorder.table.{FolderColumns, PlainTable, PlainTables, TableLocation, TableSideFolder}

/** What statements do before they list a table's files. */
private[command] object TableRecovery {

  /** Recovers the table, as [[recover]] does, and lists its files. */
  def settled(
      session: SparkSession,
      target: Target,
      columns: FolderColumns = FolderColumns.OfQueries
  ): PlainTable = {
    val place = PlainTables.locate(session, target)
    recover(place)
    PlainTables.open(place, columns)
  }

  /**
   * Finishes or undoes the operation that a dead owner left behind, if there is one. Statements
   * call it before they list the table's files.
   */
  def recover(table: TableLocation): Unit = TableLocking.translated(table, "Recovery") {
    TableLocking.recovering(table) {
      Recovery.recover(TableSideFolder.of(table), TableLocking.settings(table.session))
    }
    CatalogTables.recover(table)
  }
}
