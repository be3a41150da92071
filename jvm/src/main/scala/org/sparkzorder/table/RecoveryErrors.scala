package org.sparkzorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier

import org.sparkzorder.commit.{FoldersUnclearException, HalfPublishedException, InputsReplacedException}
import org.sparkzorder.errors.ZOrderErrors

/**
 * Turns the exceptions of a recovery into the errors of a query. While a part of an operation's
 * files is missing, no way of reading the table gives a right answer.
 */
private[sparkzorder] object RecoveryErrors {

  /** @param name how messages name the table in this folder */
  def told[A](name: Path => String)(look: => A): A =
    try look
    catch {
      case e: HalfPublishedException  => throw ZOrderErrors.recoveryFailed(name(e.table), e)
      case e: FoldersUnclearException =>
        throw ZOrderErrors.recoveryUnclear(name(e.table), e.table.toUri.getPath, e.folders.map(_.sentence), e)
      case e: InputsReplacedException => throw ZOrderErrors.inputsReplaced(name(e.table), e.paths, e)
    }

  /** The folder in backquotes, for folders that have no other name. */
  def quoted(table: Path): String = quoteIdentifier(table.toUri.getPath)
}
