package org.sparkzorder.command

import java.util.UUID

import org.sparkzorder.commit.{Record, TableFolder}
import org.sparkzorder.commit.catalog.{CatalogVacuum, CatalogView, ExpiredFolder}
import org.sparkzorder.commit.log.History
import org.sparkzorder.table.{SessionCatalogLocations, SharedLocations, TableLocation, TableSideFolder}

/** `VACUUM` of a table that moves to new folders: it deletes earlier ones. */
private[command] object VacuumByCatalog {

  /** @param isOld whether an operation's retired files may go */
  def expired(table: TableLocation, isOld: Record => Boolean): Seq[ExpiredFolder] = {
    val folder = TableSideFolder.of(table)
    val view = CatalogView.read(folder, new SessionCatalogLocations(table))
    CatalogVacuum.expired(folder, view, byId(folder, isOld), System.currentTimeMillis())
  }

  private def byId(folder: TableFolder, isOld: Record => Boolean): String => Boolean =
    (History.read(folder).map(_.record) ++ History.undone(folder).map(_.record)).filter(isOld).map(_.operationId).toSet

  /** Deletes them, and returns what was deleted. */
  def run(table: TableLocation, isOld: Record => Boolean): Seq[ExpiredFolder] = {
    SharedLocations.refuse(table)
    TableLocking.locked(table, "VACUUM", UUID.randomUUID().toString) { lock =>
      val folder = TableSideFolder.of(table)
      val view = CatalogTables.recoverUnder(table, lock)
      // What is copied forward now is deleted by the next VACUUM only: queries may be reading it.
      val isOldById = byId(folder, isOld)
      def expired(view: CatalogView) = CatalogVacuum.expired(folder, view, isOldById, System.currentTimeMillis())
      val gone = expired(view)
      CatalogTables.copyForward(table, lock, view)
      // Copies may have taken long, and the lock does not bind others who change locations.
      val still = expired(view.copy(current = new SessionCatalogLocations(table).all())).map(_.folder).toSet
      val settings = TableSideFolder.historySettings(table)
      val expiredNow = gone.filter(e => still(e.folder))
      CatalogVacuum.run(folder, lock, expiredNow, view.history, System.currentTimeMillis(), settings)
      expiredNow
    }
  }
}
