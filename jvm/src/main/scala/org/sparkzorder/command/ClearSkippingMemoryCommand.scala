package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}

import org.sparkzorder.memory.learn.PendingScans
import org.sparkzorder.statement.Target
import org.sparkzorder.table.{PlainTables, TableSideFolder}

/** `CLEAR SKIPPING MEMORY`: forgets what filters found out about the files of a table. */
final case class ClearSkippingMemoryCommand(target: Target) extends NamedCommand {

  override def title: String = s"CLEAR SKIPPING MEMORY ON ${target.title}"

  override protected def work(session: SparkSession): Seq[Row] = {
    val table = PlainTables.locate(session, target)
    // A query that comes in between would read the files again.
    PendingScans.forgetKept(TableSideFolder.of(table))
    PendingScans.forget(table.root)
    Nil
  }
}
