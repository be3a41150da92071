package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.execution.command.LeafRunnableCommand

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.table.{PlainTables, Target}

/** A statement that is parsed but that this version does not carry out. A wrong target is told first. */
final case class NotYetCommand(target: Target, statement: String) extends LeafRunnableCommand {
  override def run(session: SparkSession): Seq[Row] = {
    PlainTables.resolve(session, target)
    throw ZOrderErrors.notYet(statement)
  }
}
