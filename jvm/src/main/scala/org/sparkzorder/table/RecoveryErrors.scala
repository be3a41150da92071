package org.sparkzorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier

import org.sparkzorder.commit._
import org.sparkzorder.errors.ZOrderErrors

/** Turns the exceptions of the commit, and so of a recovery, into the errors of statements and queries. */
private[sparkzorder] object RecoveryErrors {

  def of(table: String, operation: String, e: CommitException): Throwable =
    ZOrderErrors.ofCommit(e.condition, table, operation, e.told, e.isRefusal)(e)

  /**
   * Runs a query's look at a table. While files of an operation are missing, no way of reading it gives a right answer.
   *
   * @param name how messages name the table in this folder
   */
  def translateErrors[A](name: Path => String)(look: => A): A =
    try look
    catch {
      case e: HalfPublishedException  => throw of(name(e.table), "Recovery", e)
      case e: FoldersUnclearException => throw of(name(e.table), "Recovery", e)
      case e: RowsUnclearException    => throw of(name(e.table), "Recovery", e)
    }

  /** The folder in backquotes, for folders that have no other name. */
  def quoted(table: Path): String = quoteIdentifier(table.toUri.getPath)
}
