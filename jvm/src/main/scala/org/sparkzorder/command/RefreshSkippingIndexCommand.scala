package org.sparkzorder.command

import java.io.IOException

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.SparkThrowable
import org.apache.spark.internal.Logging
import org.apache.spark.sql.{Row, SparkSession}

import org.sparkzorder.commit.CommitException
import org.sparkzorder.commit.log.History
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{ExcludedColumns, TableIndex}
import org.sparkzorder.optimize.plan.FileOrigin
import org.sparkzorder.statement.Target
import org.sparkzorder.table.{PlainTables, TableLocation, TableSideFolder}

/**
 * `REFRESH SKIPPING INDEX`: adds the statistics of new and changed files, and drops those of files
 * that are gone. If there are no such files, it lists the table once and writes nothing. An outdated
 * index gets the statistics of all files.
 */
final case class RefreshSkippingIndexCommand(target: Target) extends LongCommand {

  override def operation: String = "REFRESH SKIPPING INDEX"

  override def tableName: String = target.title

  override def title: String = s"$operation ON $tableName"

  override protected def metricNames: Seq[String] = Seq("files with new statistics")

  override protected def reported(session: SparkSession): Seq[Row] = {
    val location = PlainTables.locate(session, target)
    TableRecovery.settle(location, operation)
    show(session, RefreshSkippingIndexCommand.refresh(location, operation))
    Nil
  }
}

object RefreshSkippingIndexCommand extends Logging {

  /**
   * Makes an outdated index again, for a statement that adds files to it. If that fails, the index stays outdated, and
   * the statement goes on.
   */
  private[command] def renew(location: TableLocation, operation: String): Unit =
    try if (TableIndex.of(location, TableSideFolder.of(location)).exists(_.isOutdated)) {
        refresh(location, operation); ()
      }
    catch {
      case e @ (_: IOException | _: CommitException | _: SparkThrowable) =>
        logWarning(s"The index of ${location.name} stays outdated until REFRESH SKIPPING INDEX", e)
    }

  /** @return how many files were read */
  private def refresh(location: TableLocation, operation: String): Long = {
    val folder = TableSideFolder.of(location)
    def current(): IndexSnapshot =
      TableIndex.of(location, folder).getOrElse(throw ZOrderErrors.indexNotFound(location.name))
    val before = current()
    val table = PlainTables.open(location)
    def unseen(snapshot: IndexSnapshot, files: Seq[FileStatus]): Seq[FileStatus] = files.filter { f =>
      snapshot.isOutdated || snapshot.ordinalOf(table.names.of(f.getPath), f.getLen, f.getModificationTime) < 0
    }
    val listed = table.listed.flatMap(_.files)
    val late = unseen(before, listed)
    val isUpToDate = late.isEmpty && listed.size == before.files && !before.isOutdated &&
      TableIndex.hasNothingExcluded(table, before) && ExcludedColumns.areRemembered(table)
    if (!isUpToDate) {
      TableLocking.refuseBusy(table)
      // Reads the files before it takes the lock. If a file cannot be read, the table's folder is unchanged.
      val columns = TableIndex.columnsOf(table, Some(before))
      val earlier = TableLocking.translated(table, operation)(TableIndex.build(table, late, columns))
      TableLocking.locked(table, operation) { lock =>
        val snapshot = current()
        val files = table.files()
        val now = TableIndex.columnsOf(table, Some(snapshot))
        val stats = TableIndex.build(table, unseen(snapshot, files), now, if (now == columns) earlier else Nil)
        val ids = stats.map(_._1)
        val origins = FileOrigin.ofRecords(ids, History.newestFirst(folder)) ++ snapshot.origins(ids)
        val all = (if (snapshot.isOutdated) ids else files.map(TableIndex.idOf(table, _))).toSet
        TableIndex.add(table, folder, lock, Some(snapshot), all, stats, snapshot.places(ids), origins = origins)
      }
    }
    late.size.toLong
  }
}
