package org.sparkzorder.indexing

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.FileMeta
import org.sparkzorder.footer.{DataFormat, Footers}
import org.sparkzorder.table.PlainTable

/** Tells complete files from those that somebody is still writing. */
private[sparkzorder] object CompleteFiles {

  /** The rows that a file's footer tells; None if the file has no footer, or is gone. */
  def rowsOf(table: PlainTable): FileMeta => Option[Long] = {
    val format = DataFormat.of(table.formatName).get
    meta => {
      val status = new FileStatus(meta.length, false, 1, 0L, meta.modificationTime, meta.path)
      Footers.tryAll(table.session, Seq(status), format, table.dataSchema, Nil).head.toOption.map(_.rows)
    }
  }
}
