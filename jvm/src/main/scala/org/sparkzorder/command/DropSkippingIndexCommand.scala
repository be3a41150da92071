package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}

import org.sparkzorder.commit.side.IndexFiles
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.statement.Target
import org.sparkzorder.table.{PlainTables, TableSideFolder}

/** `DROP SKIPPING INDEX`: deletes the statistics and the recorded workload. The history and the trash stay. */
final case class DropSkippingIndexCommand(target: Target) extends NamedCommand {

  override def title: String = s"DROP SKIPPING INDEX ON ${target.title}"

  override protected def work(session: SparkSession): Seq[Row] = {
    val table = PlainTables.locate(session, target)
    if (TableIndex.of(table, TableRecovery.recover(table)).isEmpty) throw ZOrderErrors.indexNotFound(table.name)
    TableLocking.locked(table, "DROP SKIPPING INDEX") { lock => IndexFiles.drop(TableSideFolder.of(table), lock) }
    Nil
  }
}
