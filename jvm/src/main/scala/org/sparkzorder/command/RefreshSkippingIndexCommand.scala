package org.sparkzorder.command

import java.util.UUID

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.{Row, SparkSession}

import org.sparkzorder.commit.log.History
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.indexing.{ExcludedColumns, TableIndex}
import org.sparkzorder.optimize.plan.FileOrigin
import org.sparkzorder.statement.Target
import org.sparkzorder.table.{PlainTables, TableSideFolder}

/**
 * `REFRESH SKIPPING INDEX`: adds the statistics of new and changed files, and drops those of files
 * that are gone. If there are no such files, it lists the table once and writes nothing.
 */
final case class RefreshSkippingIndexCommand(target: Target) extends LongCommand {

  override def operation: String = "REFRESH SKIPPING INDEX"

  override def tableName: String = target.title

  override def title: String = s"$operation ON $tableName"

  override protected def metricNames: Seq[LongCommand.Metric] = Seq(RefreshSkippingIndexCommand.FilesRead)

  override protected def reported(session: SparkSession): Seq[Row] = {
    val place = PlainTables.locate(session, target)
    TableRecovery.settle(place, operation)
    val folder = TableSideFolder.of(place)
    def current(): IndexSnapshot = TableIndex.of(place, folder).getOrElse(throw ZOrderErrors.indexNotFound(place.name))
    val before = current()
    val table = PlainTables.open(place)
    def unseen(snapshot: IndexSnapshot, files: Seq[FileStatus]): Seq[FileStatus] = files.filter { f =>
      snapshot.ordinalOf(table.names.of(f.getPath), f.getLen, f.getModificationTime) < 0
    }
    val listed = table.listed.flatMap(_.files)
    val late = unseen(before, listed)
    val isUpToDate = late.isEmpty && listed.size == before.files &&
      TableIndex.hasNothingExcluded(table, before) && ExcludedColumns.areRemembered(table)
    if (!isUpToDate) {
      TableLocking.refuseBusy(table)
      // Reads the files before it takes the lock. If a file cannot be read, the table's folder is
      // unchanged.
      val columns = TableIndex.columnsOf(table, Some(before))
      val earlier = TableLocking.translated(table, operation)(TableIndex.build(table, late, columns))
      TableLocking.locked(table, operation, UUID.randomUUID().toString) { lock =>
        val snapshot = current()
        val files = table.files()
        val now = TableIndex.columnsOf(table, Some(snapshot))
        val stats = TableIndex.build(table, unseen(snapshot, files), now, if (now == columns) earlier else Nil)
        val origins = FileOrigin.ofRecords(stats.map(_._1), History.newestFirst(folder))
        val all = files.map(TableIndex.idOf(table, _)).toSet
        TableIndex.add(table, folder, lock, Some(snapshot), all, stats, origins = origins)
      }
    }
    show(session, RefreshSkippingIndexCommand.FilesRead.name -> late.size.toLong)
    Nil
  }
}

object RefreshSkippingIndexCommand {
  private val FilesRead = LongCommand.Metric("files with new statistics")
}
