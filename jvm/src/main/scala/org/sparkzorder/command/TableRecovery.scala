package org.sparkzorder.command

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession

import org.sparkzorder.commit.WorkerThreads
import org.sparkzorder.commit.catalog.{CatalogRecovery, CatalogView, CopyForward, StaleAppend, StaleAppends}
import org.sparkzorder.commit.lock.{Lock, LockState}
import org.sparkzorder.commit.log.TableState
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.CompleteFiles
import org.sparkzorder.optimize.check.CommitMode
import org.sparkzorder.statement.Target
import org.sparkzorder.table._

/** What statements do before they list a table's files. */
private[command] object TableRecovery {

  /** Recovers the table, as [[recover]] does, and lists its files. */
  def settled(session: SparkSession, target: Target, columns: FolderColumns = FolderColumns.OfQueries): PlainTable = {
    val location = PlainTables.locate(session, target)
    recover(location)
    PlainTables.open(location, columns)
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
      case state if state.needsRecovery(settings) =>
        Recovery.recover(TableSideFolder.of(table), settings)
        TableSideFolder.look(table)
      case state => state
    }) match {
      case state if state.moving.nonEmpty =>
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

/** What statements do on tables that move to new folders, before their own work. */
private[command] object CatalogTables extends Logging {

  /** Ends an operation that a dead owner left behind. */
  def recover(table: TableLocation): Unit = if (table.catalogTable.isDefined) {
    val state = TableSideFolder.look(table)
    if (state.moving.nonEmpty && !isHeld(table, state)) TableLocking.locked(table, "Recovery") { lock =>
      recoverUnder(table, lock)
      ()
    }
  }

  private def isHeld(table: TableLocation, state: TableState): Boolean =
    state.lockState(TableLocking.settings(table.session)) match {
      case LockState.Live(_) => true
      case _                 => false
    }

  /**
   * Whether the next statement under the lock has files to copy forward, or a location to set right.
   *
   * @throws org.apache.spark.sql.AnalysisException as [[staleAppends]] does
   */
  def hasWork(table: TableLocation, operation: String): Boolean =
    TableLocking.translated(table, operation) {
      val view = viewOf(table)
      view.locatedAgain.values.exists(_.isGivenUp) || staleAppends(table, view).nonEmpty
    }

  /** Settles the table for a statement that needs no lock for its own work. False when there was nothing to do. */
  def settle(table: TableLocation, operation: String): Boolean = hasWork(table, operation) && {
    TableLocking.locked(table, operation)(settleUnder(table, _))
    true
  }

  /**
   * The files in earlier folders that the table lacks, or may come to lack.
   *
   * @throws org.apache.spark.sql.AnalysisException when a location was set back, or it cannot be told whether
   *   the rows of some files count
   */
  def staleAppends(table: TableLocation, operation: String): Seq[StaleAppend] =
    TableLocking.translated(table, operation)(staleAppends(table, viewOf(table)))

  private def staleAppends(table: TableLocation, view: CatalogView): Seq[StaleAppend] = {
    val folder = TableSideFolder.of(table)
    refuseSetBack(table, view)
    val appends = new StaleAppends(view)
    WorkerThreads.map(view.current.values.toSeq, folder.threads)(appends.of).flatten
  }

  private def viewOf(table: TableLocation): CatalogView =
    CatalogView.read(TableSideFolder.of(table), new SessionCatalogLocations(table))

  /** Ends what dead owners left, for a statement that holds the lock. */
  def recoverUnder(table: TableLocation, lock: Lock): CatalogView =
    CatalogRecovery.settle(TableSideFolder.of(table), lock, new SessionCatalogLocations(table))

  /**
   * The same, and copies files forward. Every statement that rewrites or deletes files does so under its own lock: a
   * copy that another statement has left without a note would be rewritten, and the file copied again.
   *
   * @return whether files were copied
   */
  def settleUnder(table: TableLocation, lock: Lock): Boolean = copyForward(table, lock, recoverUnder(table, lock))

  def copyForward(table: TableLocation, lock: Lock, view: CatalogView): Boolean = {
    refuseSetBack(table, view)
    val opened = PlainTables.open(table)
    val copied = CopyForward.run(TableSideFolder.of(table), lock, view, CompleteFiles.rowsOf(opened))
    opened.refreshCaches()
    copied > 0
  }

  /**
   * A folder that the table has left may have other rows than the one to which they have moved. Only a person knows
   * which count.
   */
  private def refuseSetBack(table: TableLocation, view: CatalogView): Unit = {
    CatalogRecovery.setBack(view).headOption.foreach { case (left, again) =>
      val newer = new Path(left.head)
      throw ZOrderErrors.locationSetBack(
        table.name,
        shown(new Path(left.folder)),
        left.last.version,
        shown(newer),
        CatalogRecovery.isLocated(view, newer),
        again.map(_.name),
        shown(TableSideFolder.of(table).root)
      )
    }
  }

  private def shown(path: Path): String = path.toUri.getPath
}
