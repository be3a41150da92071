package org.sparkzorder.command

import java.util.UUID

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.commit._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.CompleteFiles
import org.sparkzorder.table.{PlainTables, SessionCatalogLocations, TableLocation, TableSideFolder}

/** What statements do on tables that are published through the catalog, before their own work. */
private[command] object CatalogTables extends Logging {

  /** Whether statements on the table tell the catalog of new folders. */
  def isOne(table: TableLocation): Boolean =
    table.catalogTable.isDefined &&
      CatalogStateFile.isThere(TableState.look(table.root, TableSideFolder.of(table).ops))

  /** Ends an operation that a dead owner left behind. */
  def recover(table: TableLocation): Unit = {
    if (table.catalogTable.exists(_.partitionColumnNames.nonEmpty)) bringBackState(table)
    look(table).foreach { side =>
      CatalogStateFile.throughLink(side.folder, side.statuses).foreach { other =>
        throw ZOrderErrors.linkedLocation(table.name, table.root, other.toUri.getPath)
      }
      if (CatalogRecovery.isNeeded(side.statuses) && !isHeld(table, side)) settle(table, "Recovery")
    }
  }

  /**
   * The whole table was overwritten, and its side folder with it. Writers may still know earlier
   * folders.
   */
  private def bringBackState(table: TableLocation): Unit = {
    val folder = TableSideFolder.of(table)
    if (!CatalogStateFile.isThere(TableState.look(folder.root, folder.ops))) {
      val beside = CatalogStateFile.readBeside(folder)
      val isInUse = beside.folders.nonEmpty && new SessionCatalogLocations(table).all().values.exists { path =>
        VersionDirectory.homeOf(path).contains(folder.root) && beside.folder(path).isDefined
      }
      if (isInUse) TableLocking.locked(table, "Recovery", UUID.randomUUID().toString) { lock =>
        if (!CatalogStateFile.isThere(TableState.look(folder.root, folder.ops))) {
          CatalogStateFile.write(folder, lock, beside)
          logWarning(s"The side folder of ${table.name} was deleted, and has its state again")
        }
      }
    }
  }

  /**
   * Brings over files that others have written to earlier folders. Nothing is locked if there are none.
   */
  def carryLate(table: TableLocation, operation: String): Unit = look(table).foreach { _ =>
    val folder = TableSideFolder.of(table)
    val state = CatalogStateFile.read(folder)
    val located = new SessionCatalogLocations(table).located()
    val current = located.keys.toSeq.filter(state.folder(_).isDefined)
    def hasLate = TableLocking.translated(table, operation) {
      unclearTold(table)(
        WorkerThreads.map(current, folder.threads)(CatalogCopies.lateIn(folder, state, _, located)).exists(_.nonEmpty)
      )
    }
    def isBegunAnew = StaleAppends.begunAnew(state, current, folder.ops).nonEmpty
    if (state.withoutTaken(located.keySet) != state || isBegunAnew || hasLate) settle(table, operation)
  }

  private def look(table: TableLocation): Option[TableState.SideFolder] =
    if (table.catalogTable.isEmpty) None
    else
      TableState.look(table.root, TableSideFolder.of(table).ops) match {
        case side: TableState.SideFolder if CatalogStateFile.isThere(side) || CatalogRecovery.isNeeded(side.statuses) =>
          Some(side)
        case _ => None
      }

  private def isHeld(table: TableLocation, side: TableState.SideFolder): Boolean =
    side.lockState(TableLocking.settings(table.session)) match {
      case LockState.Live(_) => true
      case _                 => false
    }

  private def settle(table: TableLocation, operation: String): Unit =
    TableLocking.locked(table, operation, UUID.randomUUID().toString)(settleUnder(table, _))

  /** Ends what dead owners left, for a statement that holds the lock. */
  def recoverUnder(table: TableLocation, lock: Lock): Unit = {
    val locations = new SessionCatalogLocations(table)
    val folder = TableSideFolder.of(table)
    CatalogRecovery.settle(folder, lock, locations)
    CatalogRecovery.returnAbandoned(folder, lock, locations, locations.all(), settled(table))
  }

  /** The same, and brings over late files. */
  def settleUnder(table: TableLocation, lock: Lock): Unit = {
    recoverUnder(table, lock)
    val locations = new SessionCatalogLocations(table)
    val folder = TableSideFolder.of(table)
    val state = CatalogStateFile.read(folder)
    val located = locations.located()
    val current = located.keys.toSeq.filter(state.folder(_).isDefined)
    if (current.nonEmpty) {
      val opened = PlainTables.open(table)
      unclearTold(table)(CatalogCopies.carry(folder, lock, current, located, CompleteFiles.rowsOf(opened)))
      opened.refreshCaches()
    }
  }

  /** Where the newest operation in the history put each slot. */
  def settled(table: TableLocation): CatalogPartition => Option[Path] = {
    lazy val records =
      History.newestFirst(TableSideFolder.of(table)).map(_.record).filter(_.way == Way.Catalog).toVector
    slot => records.iterator.flatMap(_.switches).find(_.slot == slot).map(s => new Path(s.to))
  }

  /** The folders that the catalog names. */
  def current(table: TableLocation): Map[CatalogPartition, Path] = new SessionCatalogLocations(table).all()

  def unclearTold[A](table: TableLocation)(work: => A): A =
    try work
    catch {
      case e: StaleAppendsUnclearException =>
        throw ZOrderErrors.lateFilesUnclear(table.name, e.folder, e.current, e.files, e.reason, e)
    }
}
