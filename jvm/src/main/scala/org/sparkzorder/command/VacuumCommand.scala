package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import org.sparkzorder.commit.{FileMeta, Record, TableFolder}
import org.sparkzorder.commit.catalog.{CatalogVacuum, CatalogView, ExpiredFolder}
import org.sparkzorder.commit.log.{History, TableState}
import org.sparkzorder.commit.upkeep.Trash
import org.sparkzorder.optimize.check.CommitMode
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.statement.Target
import org.sparkzorder.table._

/**
 * `VACUUM`: deletes retired files. After that, `RESTORE` cannot go back to the versions that had
 * them. It returns the table's path, like Delta's VACUUM, and how much it deleted. A dry run returns
 * the paths of the files that would be deleted.
 *
 * @param retainHours as written; None for what each operation's `retain-hours` says
 */
final case class VacuumCommand(target: Target, retainHours: Option[String], dryRun: Boolean) extends LongCommand {

  override protected def resultColumns: StructType =
    NamedCommand.columns("path" -> StringType, "files" -> LongType, "bytes" -> LongType)

  override def operation: String = "VACUUM"

  override def tableName: String = target.title

  override def title: String = if (dryRun) s"${super.title} DRY RUN" else super.title

  override protected def metricNames: Seq[String] = Seq("files deleted", "size of deleted files")

  override protected def reported(session: SparkSession): Seq[Row] = {
    val location = PlainTables.locate(session, target)
    val state = TableRecovery.recover(location)
    CommitMode.refusePath(location, state)
    val folder = TableSideFolder.of(location)
    val isOld = VacuumCommand.isOld(retainHours, System.currentTimeMillis())
    if (CommitMode.isNewLocation(location, state)) byCatalog(session, location, isOld)
    else byRenames(session, location, folder, state, isOld)
  }

  private def byCatalog(session: SparkSession, table: TableLocation, isOld: Record => Boolean): Seq[Row] =
    if (dryRun) foreseen(VacuumByCatalog.expired(table, isOld).flatMap(_.files))
    else {
      val gone = VacuumByCatalog.run(table, isOld)
      done(session, table, gone.map(_.files.size.toLong).sum, gone.map(_.bytes).sum)
    }

  private def foreseen(files: Seq[FileMeta]): Seq[Row] =
    files.map(f => Row(f.path.toString, 1L, if (f.isLink) 0L else f.length))

  private def done(session: SparkSession, table: TableLocation, files: Long, bytes: Long): Seq[Row] = {
    show(session, files, bytes)
    Seq(Row(table.root.toString, files, bytes))
  }

  private def byRenames(
      session: SparkSession,
      location: TableLocation,
      folder: TableFolder,
      state: TableState,
      isOld: Record => Boolean
  ): Seq[Row] = {
    // A partition that was moved or copied took its trash along. No record knows of it, so all data
    // folders are searched.
    val table = PlainTables.open(location, FolderColumns.Nothing)
    val data = table.listed
    TableSideFolder.reappeared(table, state, data.flatMap(_.files))
    val dirs = data.map(_.path).filter(p => p == table.root || table.names.isBelow(p))
      .map(p => if (p == table.root) "" else table.names.of(p))
    val settings = TableSideFolder.historySettings(table)
    val expired = TableLocking.translated(table, "VACUUM")(Trash.expired(folder, isOld, dirs, settings))
    if (dryRun) foreseen(expired.files)
    else if (expired.isNothing) done(session, table, 0, 0)
    else
      TableLocking.locked(table, "VACUUM") { lock =>
        val gone = Trash.expired(folder, isOld, dirs, settings)
        val kept = Trash.vacuum(folder, lock, gone).flatMap(_.files)
        done(session, table, gone.files.size.toLong - kept.size, gone.bytes - kept.map(_.length).sum)
      }
  }
}

object VacuumCommand {
  private val millisPerHour = BigDecimal(3600000)

  /** Whether an operation's retired files may go. With 0 hours they all may, even if their clock was ahead of ours. */
  private def isOld(retainHours: Option[String], now: Long): Record => Boolean = record => {
    val hours = retainHours.map(BigDecimal(_)).getOrElse(BigDecimal(OptimizeOptions.retainHours(record.parameters)))
    hours == 0 || BigDecimal(record.timestamp) + hours * millisPerHour <= now
  }
}

/** `VACUUM` of a table that moves to new folders: it deletes earlier ones. */
private[command] object VacuumByCatalog {

  def expired(table: TableLocation, isOld: Record => Boolean): Seq[ExpiredFolder] = {
    val folder = TableSideFolder.of(table)
    val view = CatalogView.read(folder, new SessionCatalogLocations(table))
    CatalogVacuum.expired(folder, view, byId(folder, isOld), System.currentTimeMillis())
  }

  private def byId(folder: TableFolder, isOld: Record => Boolean): String => Boolean =
    (History.read(folder).map(_.record) ++ History.undone(folder).map(_.record)).filter(isOld).map(_.operationId).toSet

  def run(table: TableLocation, isOld: Record => Boolean): Seq[ExpiredFolder] = {
    SharedLocations.refuse(table)
    TableLocking.locked(table, "VACUUM") { lock =>
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
