package org.sparkzorder.indexing

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.NotDataFileException
import org.sparkzorder.table.PlainTable

/** What a statement says of a listed file that cannot be read. */
private[sparkzorder] object UnreadableFiles {

  /** One that is gone was taken away by somebody since the statement listed it: there is nothing to repair. */
  def told[T](table: PlainTable)(work: => T): T =
    try work
    catch {
      case e: NotDataFileException if e.isGone =>
        throw ZOrderErrors.commitConflict(table.name, Seq(e.path), "a file was deleted or moved", e)
      case e: NotDataFileException => throw ZOrderErrors.notDataFile(e.path, table.formatName, e.reason)
    }
}
