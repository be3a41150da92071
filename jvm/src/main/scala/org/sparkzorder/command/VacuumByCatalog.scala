package org.sparkzorder.command

import java.util.UUID

import org.sparkzorder.commit.Record
import org.sparkzorder.commit.catalog.{CatalogVacuum, ExpiredFolder, LocationHistory}
import org.sparkzorder.commit.log.History
import org.sparkzorder.table.{SharedLocations, TableLocation, TableSideFolder}

/** `VACUUM` of a table that moves to new folders: it deletes earlier ones. */
private[command] object VacuumByCatalog {

  /** @param isOld whether an operation's retired files may go */
  def expired(table: TableLocation, isOld: Record => Boolean): Seq[ExpiredFolder] = {
    val folder = TableSideFolder.of(table)
    val records = (History.read(folder).map(_.record) ++ History.undone(folder).map(_.record))
      .map(r => r.operationId -> r).toMap
    CatalogVacuum.expired(
      folder,
      LocationHistory.read(folder),
      CatalogTables.located(table),
      records.get(_).exists(isOld),
      System.currentTimeMillis()
    )
  }

  /** Deletes them, and returns what was deleted. */
  def run(table: TableLocation, isOld: Record => Boolean): Seq[ExpiredFolder] = {
    SharedLocations.refuse(table)
    TableLocking.locked(table, "VACUUM", UUID.randomUUID().toString) { lock =>
      val folder = TableSideFolder.of(table)
      CatalogTables.recoverUnder(table, lock)
      // What is copied forward now is deleted by the next VACUUM only: queries may be reading it.
      val gone = expired(table, isOld)
      CatalogTables.settleUnder(table, lock)
      val (history, located) = (LocationHistory.read(folder), CatalogTables.located(table))
      val settings = TableSideFolder.historySettings(table)
      CatalogVacuum.run(folder, lock, gone, history, located, System.currentTimeMillis(), settings)
      gone
    }
  }
}
