package org.sparkzorder.optimize

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.footer.{DataFormat, FileFooter}
import org.sparkzorder.footer.files.Footers
import org.sparkzorder.indexing.UnreadableFiles
import org.sparkzorder.layout.FileBounds
import org.sparkzorder.progress.{Phase, StatementProgress}
import org.sparkzorder.stats.{ColumnKey, ColumnStats}
import org.sparkzorder.table.{DataFolder, PlainTable}
import org.sparkzorder.write.UnitPlacement

/** A data file, with what its footer says. */
private[sparkzorder] final case class Input(status: FileStatus, footer: FileFooter) {

  /** Bounds of a column, which must be among those that the footer was read for. */
  def bounds(column: ColumnKey): FileBounds =
    FileBounds.of(footer.stats.getOrElse(column, ColumnStats.unknown), footer.rows)
}

private[sparkzorder] object Input {

  /**
   * Reads the footers of some files.
   *
   * @param columns columns whose statistics are wanted
   * @param withTraits whether to read also what the files have beside their rows
   */
  def read(
      table: PlainTable,
      files: Seq[FileStatus],
      columns: Seq[ColumnKey],
      withTraits: Boolean = false
  ): Seq[Input] = {
    val format = DataFormat.of(table.formatName).get
    StatementProgress.current.foreach(_.enter(Phase.Footers, until = 0.05, files = files.size.toLong))
    UnreadableFiles.translateErrors(table) {
      val (schema, options) = (table.dataSchema, table.relation.options)
      val footers =
        Footers.readAll(table.session, files, format, schema, columns, options = options, withTraits = withTraits)
      files.zip(footers).map { case (file, footer) => Input(file, footer) }
    }
  }
}

/**
 * Files of one folder that are rewritten together.
 *
 * @param outputFiles how many files to make of them
 * @param placement where each row goes, if the files are added to others that lie along a curve already
 * @param incremental whether other files of the folder stay as they are
 * @param reason why these files are rewritten, in words
 * @param rest files of the folder that stay; only the first rewrite of each folder lists them
 */
private[sparkzorder] final case class Rewrite(
    folder: DataFolder,
    files: Seq[FileStatus],
    outputFiles: Int,
    placement: Option[UnitPlacement] = None,
    incremental: Boolean = false,
    reason: String = "",
    rest: Seq[FileStatus] = Nil
)
