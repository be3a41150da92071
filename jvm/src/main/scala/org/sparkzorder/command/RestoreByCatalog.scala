package org.sparkzorder.command

import org.sparkzorder.commit._
import org.sparkzorder.commit.catalog.{CatalogCommitter, CatalogRestore, CatalogView, CopyForward}
import org.sparkzorder.commit.lock.Lock
import org.sparkzorder.commit.machine.Operation
import org.sparkzorder.commit.upkeep.{Restore, RestorePlan}
import org.sparkzorder.indexing.CompleteFiles
import org.sparkzorder.table.{CachedTable, PlainTable, SessionCatalogLocations, TableSideFolder}

/** `RESTORE` of a table that moves to new folders: the catalog is told of earlier ones. */
private[command] object RestoreByCatalog {

  /**
   * @param table as it is once it was settled under the lock
   * @param version to go back to
   * @param restoresLost whether to go back also where others have deleted files
   * @param recordOf makes the record of files that leave the table and files that come back
   * @return the files that left, and those that are back
   */
  def run(table: PlainTable, version: Long, lock: Lock, restoresLost: Boolean)(
      recordOf: RestorePlan => Record
  ): RestorePlan = {
    val folder = TableSideFolder.of(table)
    val locations = new SessionCatalogLocations(table)
    val records = Restore.recordsSince(folder, lock, version).map(_._2)
    val ways = CatalogRestore.plan(version, records, CatalogView.read(folder, locations), restoresLost)
    val rowsOf = CompleteFiles.rowsOf(table)
    val damaged = ways.flatMap(w => w.there ++ w.brought).filter(rowsOf(_).isEmpty)
    CompleteFiles.refuseSecret(table, damaged)
    NotRestorableException.refuse(version, RestoreObstacle.Damaged, damaged.map(_.path.toString))
    val plan = RestorePlan(
      ways.flatMap(_.left).map(InputFile.of(_)),
      ways.flatMap(w => w.there ++ w.brought).map(m => OutputFile(m.path.toString, m.length, m.modificationTime, 0L)),
      ways.flatMap(_.lost)
    )
    if (ways.nonEmpty) {
      val moves = ways.map(w => LocationUpdate(w.partition, w.from, w.to))
      val committer = new CatalogCommitter(folder, lock, locations, rowsOf, moves, None)
      CachedTable.following(table) {
        try Operation.run(committer, folder, lock) {
            committer.claim(Nil)
            val changes = ways.map { w =>
              CopyForward.announce(folder, lock, w.brought, w.to)
              CatalogRestore.change(w, CopyForward.carried(folder, lock, w.brought, w.to).zip(w.brought))
            }
            committer.prepare(recordOf(plan).copy(inputs = Nil, outputs = Nil, lost = Nil, locationChanges = changes))
          }((_, _) => ())
        finally table.refreshCaches()
      }
    }
    plan
  }
}
