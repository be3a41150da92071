package org.sparkzorder.table

import java.io.IOException

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.internal.Logging

import org.sparkzorder.commit._
import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.errors.ZOrderErrors

/**
 * The side folder (`_zorder`) of a table, and what it says about the table's history. Takes no
 * lock.
 */
object TableSideFolder extends Logging {

  def of(table: TableLocation): TableFolder = TableFolder(table.root, ObjectStores.ops(table.fileSystem))

  /** The last published version; 0 before the first operation. */
  def version(table: TableLocation): Long = version(TableState.look(table.root, of(table).ops))

  def version(state: TableState): Long = state match {
    case s: TableState.SideFolder => s.version
    case _                        => 0L
  }

  /**
   * Finds files that are back under names that an operation retired. Logs a warning if there are
   * any.
   *
   * @param state read before the files were listed
   */
  def reappeared(table: TableLocation, state: TableState, files: Seq[FileStatus]): Seq[Reappeared] = state match {
    case side: TableState.SideFolder =>
      try {
        val found = Reappeared.find(side, files.map(f => table.names.of(f.getPath)))
        if (found.nonEmpty) logWarning(s"${table.name}: ${Reappeared.describe(found)}.")
        found
      } catch {
        case e @ (_: IOException | _: UnreadableRecordException) =>
          logWarning(s"Names that are back in ${table.root} are not looked for", e)
          Nil
      }
    case TableState.NoSideFolder => Nil
  }

  /**
   * How long the table's history is kept. The table's property wins over the session's setting.
   *
   * @throws org.apache.spark.sql.AnalysisException if the property or the setting is not a duration
   */
  def historySettings(table: TableLocation): HistorySettings = {
    val property = ZOrderConf.HistoryRetentionProperty
    val text = table.catalogTable.flatMap(_.properties.get(property))
      .getOrElse(table.session.sessionState.conf.getConf(ZOrderConf.historyRetention))
    HistorySettings(ZOrderConf.retentionMillis(text).getOrElse {
      throw ZOrderErrors.invalidOptionValue(property, text, "a number of days, or a time such as '12h'")
    })
  }
}
