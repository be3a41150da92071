package org.sparkzorder.command

import java.util.UUID

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.execution.command.LeafRunnableCommand

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.index.IndexSnapshot
import org.sparkzorder.table.{PlainTable, PlainTables, Target}

/** `REFRESH SKIPPING INDEX`: takes in new and changed files, and only those; forgets files that are gone. */
final case class RefreshSkippingIndexCommand(target: Target) extends LeafRunnableCommand {

  override def run(session: SparkSession): Seq[Row] = {
    val table = PlainTables.resolve(session, target)
    Operations.recover(table)
    val folder = Operations.folder(table)
    def current(): IndexSnapshot = TableIndex.of(table, folder).getOrElse(throw ZOrderErrors.indexNotFound(table.name))
    current()
    Operations.locked(table, "REFRESH SKIPPING INDEX", UUID.randomUUID().toString) { lock =>
      val snapshot = current()
      val files = table.folders().flatMap(_.files)
      val unseen = files.filter(f => isUnseen(table, snapshot, f))
      val stats = TableIndex.build(table, unseen, TableIndex.columnsOf(table, Some(snapshot)))
      TableIndex.add(table, folder, lock, Some(snapshot), files.map(TableIndex.idOf(table, _)).toSet, stats)
    }
    Nil
  }

  private def isUnseen(table: PlainTable, snapshot: IndexSnapshot, f: org.apache.hadoop.fs.FileStatus): Boolean =
    snapshot.ordinalOf(table.names.of(f.getPath), f.getLen, f.getModificationTime) < 0
}
