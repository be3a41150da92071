package org.sparkzorder.command

import org.apache.spark.sql.SparkSession

import org.sparkzorder.commit.log.TableState
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.optimize.check.CommitMode
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
   *
   * @return the state of the side folder after that
   */
  def recover(table: TableLocation): TableState = TableLocking.translated(table, "Recovery") {
    val settings = TableLocking.settings(table.session)
    TableLocking.recovering(table)(TableSideFolder.look(table) match {
      case state if Recovery.isNeeded(state, settings) =>
        Recovery.recover(TableSideFolder.of(table), settings)
        TableSideFolder.look(table)
      case state => state
    }) match {
      case side: TableState.SideFolder if side.moving.nonEmpty =>
        CatalogTables.recover(table)
        TableSideFolder.look(table)
      case state => state
    }
  }

  /** The same, and copies stale appends forward, for statements that change a table. */
  def settle(table: TableLocation, operation: String): TableState = recover(table) match {
    case state if CommitMode.isNewLocation(table, state) && CatalogTables.settle(table, operation) =>
      TableSideFolder.look(table)
    case state => state
  }
}
