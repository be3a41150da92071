package org.sparkzorder.indexing

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.NotDataFileException
import org.sparkzorder.table.PlainTable

/** Turns the exceptions for unreadable files into the errors of a statement. */
private[sparkzorder] object UnreadableFiles {

  /**
   * A file that is gone, or was exchanged, after the statement listed it. There is nothing to repair.
   */
  def told[T](table: PlainTable)(work: => T): T =
    try work
    catch {
      case e: NotDataFileException if e.isGone =>
        throw ZOrderErrors.commitConflict(table.name, Seq(e.path), e.reason, e)
      case e: NotDataFileException if e.isEncrypted => throw ZOrderErrors.notDecrypted(e.path, e.reason)
      case e: NotDataFileException => throw ZOrderErrors.notDataFile(e.path, table.formatName, e.reason)
    }
}
