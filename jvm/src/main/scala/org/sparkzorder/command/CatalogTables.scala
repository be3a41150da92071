package org.sparkzorder.command

import java.util.UUID

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.{CatalogPartition, StaleAppendsUnclearException, WorkerThreads}
import org.sparkzorder.commit.catalog.{CatalogRecovery, CopyForward, LocationHistory, StaleAppend, StaleAppends}
import org.sparkzorder.commit.lock.{Lock, LockState}
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.CompleteFiles
import org.sparkzorder.table.{PlainTables, SessionCatalogLocations, TableLocation, TableSideFolder}

/** What statements do on tables that move to new folders, before their own work. */
private[command] object CatalogTables extends Logging {

  /** Whether statements on the table tell the catalog of new folders. */
  def isOne(table: TableLocation): Boolean = table.catalogTable.isDefined && LocationHistory.isUsedBy(look(table))

  private def look(table: TableLocation): TableState = TableState.look(table.root, TableSideFolder.of(table).ops)

  /** Ends an operation that a dead owner left behind. */
  def recover(table: TableLocation): Unit = if (table.catalogTable.isDefined) look(table) match {
    case side: TableState.SideFolder if side.moving.nonEmpty && !isHeld(table, side) =>
      TableLocking.locked(table, "Recovery", UUID.randomUUID().toString)(recoverUnder(table, _))
    case _ => ()
  }

  private def isHeld(table: TableLocation, side: TableState.SideFolder): Boolean =
    side.lockState(TableLocking.settings(table.session)) match {
      case LockState.Live(_) => true
      case _                 => false
    }

  /** Copies files forward that others have written to earlier folders. Nothing is locked if there are none. */
  def copyForward(table: TableLocation, operation: String): Unit = if (isOne(table)) {
    def isGivenUp = {
      val history = LocationHistory.read(TableSideFolder.of(table))
      located(table).exists(folder => history.headOfGivenUp(folder.toString).isDefined)
    }
    val hasWork = TableLocking.translated(table, operation)(isGivenUp || staleAppends(table).nonEmpty)
    if (hasWork) TableLocking.locked(table, operation, UUID.randomUUID().toString)(settleUnder(table, _))
  }

  /**
   * The files in earlier folders that the table lacks, or may come to lack.
   *
   * @throws org.apache.spark.sql.AnalysisException when a location was set back, or it cannot be told whether
   *   the rows of some files count
   */
  def staleAppends(table: TableLocation): Seq[StaleAppend] = {
    val folder = TableSideFolder.of(table)
    val history = LocationHistory.read(folder)
    val current = new SessionCatalogLocations(table).all()
    refuseSetBack(table, history, current)
    val appends = new StaleAppends(history, current.map(_.swap), folder.ops)
    unclearTold(table)(WorkerThreads.map(current.values.toSeq, folder.threads)(appends.of)).flatten
  }

  /** Ends what dead owners left, for a statement that holds the lock. */
  def recoverUnder(table: TableLocation, lock: Lock): Unit = {
    val locations = new SessionCatalogLocations(table)
    val folder = TableSideFolder.of(table)
    CatalogRecovery.settle(folder, lock, locations)
    CatalogRecovery.returnGivenUp(folder, lock, locations, locations.all(), LocationHistory.read(folder))
  }

  /** The same, and copies files forward. */
  def settleUnder(table: TableLocation, lock: Lock): Unit = {
    recoverUnder(table, lock)
    val folder = TableSideFolder.of(table)
    val history = LocationHistory.read(folder)
    val current = new SessionCatalogLocations(table).all()
    refuseSetBack(table, history, current)
    val opened = PlainTables.open(table)
    unclearTold(table)(CopyForward.run(folder, lock, history, current.map(_.swap), CompleteFiles.rowsOf(opened)))
    opened.refreshCaches()
  }

  /**
   * A folder that the table has left may have other rows than the one to which they have moved. Only a person knows
   * which count, unless one of them has none.
   */
  private def refuseSetBack(
      table: TableLocation,
      history: LocationHistory,
      current: Map[CatalogPartition, Path]
  ): Unit = {
    val ops = TableSideFolder.of(table).ops
    val located = current.values.toSet
    // A link may lead back as well.
    val known = history.folders.map(f => ops.realPath(new Path(f)) -> new Path(f)).toMap
    for {
      back <- history.setBack(located ++ located.flatMap(l => known.get(ops.realPath(l))))
      if ops.list(back.newer).exists(StaleAppends.isVisible)
    }
      throw ZOrderErrors.locationSetBack(table.name, shown(back.current), back.version, shown(back.newer))
  }

  private def shown(path: Path): String = path.toUri.getPath

  /** The folders that the catalog names. */
  def located(table: TableLocation): Set[Path] = new SessionCatalogLocations(table).located().keySet

  private def unclearTold[A](table: TableLocation)(work: => A): A =
    try work
    catch {
      case e: StaleAppendsUnclearException =>
        throw ZOrderErrors.lateFilesUnclear(table.name, e.folder, e.current, e.files, e.reason, e)
    }
}
