package org.sparkzorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteIdentifier

import org.sparkzorder.commit.{HalfPublishedException, RecoveryUnclearException}
import org.sparkzorder.errors.ZOrderErrors

/** What a query says when half of an operation's files lie there: they are no answer, however they are read. */
private[sparkzorder] object RecoveryErrors {

  /** @param name what people call the table in this folder */
  def told[A](name: Path => String)(look: => A): A =
    try look
    catch {
      case e: RecoveryUnclearException =>
        throw ZOrderErrors.recoveryUnclear(name(e.table), e.table.toUri.getPath, e.folders.map(_.sentence), e)
      case e: HalfPublishedException => throw ZOrderErrors.recoveryFailed(name(e.table), e)
    }

  /** The folder in backquotes, where nothing has another name for it. */
  def quoted(table: Path): String = quoteIdentifier(table.toUri.getPath)
}
