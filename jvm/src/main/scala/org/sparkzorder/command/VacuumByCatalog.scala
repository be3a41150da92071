package org.sparkzorder.command

import java.util.UUID

import org.sparkzorder.commit._
import org.sparkzorder.table.{SharedLocations, TableLocation, TableSideFolder}

/** `VACUUM` of a table that is published through the catalog: it deletes earlier folders. */
private[command] object VacuumByCatalog {

  /** @param isOld whether an operation's retired files may go */
  def expired(table: TableLocation, isOld: Record => Boolean): Seq[ExpiredFolder] = {
    val folder = TableSideFolder.of(table)
    val records = (History.summaries(folder)._1.map(_.record) ++ History.undone(folder).map(_.record))
      .map(r => r.operationId -> r).toMap
    def isOldWatch(w: Watch): Boolean = records.get(w.operationId).fold(true)(isOld)
    val current = CatalogTables.current(table)
    CatalogVacuum.expired(folder, CatalogStateFile.read(folder), current, CatalogTables.settled(table), isOldWatch)
  }

  /** Deletes them, and returns what was deleted. */
  def run(table: TableLocation, isOld: Record => Boolean): Seq[ExpiredFolder] = {
    SharedLocations.refuse(table)
    TableLocking.locked(table, "VACUUM", UUID.randomUUID().toString) { lock =>
      val folder = TableSideFolder.of(table)
      CatalogTables.recoverUnder(table, lock)
      // What is brought over now is deleted by the next VACUUM only: queries may be reading it.
      val gone = expired(table, isOld)
      CatalogTables.settleUnder(table, lock)
      val current = CatalogTables.current(table).values.toSet
      CatalogVacuum.run(folder, lock, gone, current, System.currentTimeMillis())
      gone
    }
  }
}
