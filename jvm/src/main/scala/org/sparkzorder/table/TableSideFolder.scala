package org.sparkzorder.table

import java.io.IOException

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.internal.Logging

import org.sparkzorder.commit.{TableFolder, UnreadableRecordException}
import org.sparkzorder.commit.log.{HistorySettings, Reappeared, TableState}
import org.sparkzorder.commit.storage.ObjectStores
import org.sparkzorder.compat._
import org.sparkzorder.conf.{TableProperties, ZOrderConf}
import org.sparkzorder.errors.ZOrderErrors

/** The side folder (`_zorder`) of a table, and what it says about the table's history. Takes no lock. */
object TableSideFolder extends Logging {

  def of(table: TableLocation): TableFolder = TableFolder(table.root, ObjectStores.ops(table.fileSystem))
  def look(table: TableLocation): TableState = TableState.look(table.root, of(table).ops)

  /**
   * Finds files that are back under names that an operation retired. Logs a warning if there are any.
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
   * How much of the table's history is kept. The table's properties win over the session's settings.
   *
   * @throws org.apache.spark.sql.AnalysisException if a property is wrong
   */
  def historySettings(table: TableLocation): HistorySettings = {
    val conf = table.session.sessionState.conf
    def property[A](key: String, range: String)(parse: String => Option[A]): Option[A] =
      table.catalogTable.flatMap(_.properties.get(key)).map { text =>
        parse(text).getOrElse(throw ZOrderErrors.invalidOptionValue(key, text, range))
      }
    HistorySettings(
      property(TableProperties.historyRetention.key, "a number of days, or a time such as '12h'")(
        ZOrderConf.retentionMillis
      ).getOrElse(ZOrderConf.retentionMillis(conf.getConf(ZOrderConf.historyRetention)).get),
      property(TableProperties.historyMaxOperations.key, "a whole number of 1 or more")(
        _.trim.toIntOption.filter(_ > 0)
      ).getOrElse(conf.getConf(ZOrderConf.historyMaxOperations))
    )
  }
}
