package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}

import org.sparkzorder.memory.learn.PendingScans
import org.sparkzorder.statement.Target
import org.sparkzorder.table.PlainTables

/** `CLEAR SKIPPING MEMORY`: forgets what filters found out about the files of a table. */
final case class ClearSkippingMemoryCommand(target: Target) extends NamedCommand {

  override def title: String = s"CLEAR SKIPPING MEMORY ON ${target.title}"

  override protected def work(session: SparkSession): Seq[Row] = {
    PendingScans.forget(PlainTables.locate(session, target).root)
    Nil
  }
}
