package org.sparkzorder.command

import java.util.UUID

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.execution.command.LeafRunnableCommand

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.table.{PlainTables, Target}

/** `REFRESH SKIPPING INDEX`: takes in new and changed files, and only those; forgets files that are gone. */
final case class RefreshSkippingIndexCommand(target: Target) extends LeafRunnableCommand {

  private val operation = "REFRESH SKIPPING INDEX"

  override def run(session: SparkSession): Seq[Row] = {
    val table = PlainTables.resolve(session, target)
    Operations.recover(table)
    val folder = Operations.folder(table)
    def current(): IndexSnapshot = TableIndex.of(table, folder).getOrElse(throw ZOrderErrors.indexNotFound(table.name))
    def unseen(snapshot: IndexSnapshot): Seq[FileStatus] = table.files().filter { f =>
      snapshot.ordinalOf(table.names.of(f.getPath), f.getLen, f.getModificationTime) < 0
    }
    val before = current()
    Operations.refuseBusy(table)
    // Before the lock, which leaves its trace: where a file cannot be read the folder stays as it was.
    val columns = TableIndex.columnsOf(table, Some(before))
    val earlier = Operations.translated(table, operation)(TableIndex.build(table, unseen(before), columns))
    Operations.locked(table, operation, UUID.randomUUID().toString) { lock =>
      val snapshot = current()
      val now = TableIndex.columnsOf(table, Some(snapshot))
      val stats = TableIndex.build(table, unseen(snapshot), now, if (now == columns) earlier else Nil)
      TableIndex.add(table, folder, lock, Some(snapshot), table.files().map(TableIndex.idOf(table, _)).toSet, stats)
    }
    Nil
  }
}
