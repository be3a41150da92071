package org.sparkzorder.indexing

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.FileMeta
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.{DataFormat, FileFooter, NotDataFileException}
import org.sparkzorder.footer.files.Footers
import org.sparkzorder.table.PlainTable

/** Turns the exceptions for unreadable files into the errors of a statement. */
private[sparkzorder] object UnreadableFiles {

  /** A file that is gone, or was exchanged, after the statement listed it. There is nothing to repair. */
  def translateErrors[T](table: PlainTable)(work: => T): T =
    try work
    catch {
      case e: NotDataFileException if e.isGone =>
        throw ZOrderErrors.commitConflict(table.name, Seq(e.path), e.reason, e)
      case e: NotDataFileException if e.isEncrypted => throw ZOrderErrors.notDecrypted(e.path, e.reason)
      case e: NotDataFileException => throw ZOrderErrors.notDataFile(e.path, table.formatName, e.reason)
    }
}

/** Tells complete files from those that are still being written. */
private[sparkzorder] object CompleteFiles {

  /** The rows that a file's footer tells; None if the file has no footer that this session can read, or is gone. */
  def rowsOf(table: PlainTable): FileMeta => Option[Long] = meta => footerOf(table, meta).toOption.map(_.rows)

  /** @throws org.apache.spark.sql.AnalysisException if one of the files is encrypted and this session has no key */
  def refuseSecret(table: PlainTable, files: Seq[FileMeta]): Unit = files.foreach { meta =>
    footerOf(table, meta).left.toOption.filter(_.isEncrypted).foreach(e =>
      throw ZOrderErrors.notDecrypted(e.path, e.reason)
    )
  }

  private def footerOf(table: PlainTable, meta: FileMeta): Either[NotDataFileException, FileFooter] = {
    val (format, options) = (DataFormat.of(table.formatName).get, table.relation.options)
    val status = new FileStatus(meta.length, false, 1, 0L, meta.modificationTime, meta.path)
    Footers.tryAll(table.session, Seq(status), format, table.dataSchema, Nil, options = options).head
  }
}
