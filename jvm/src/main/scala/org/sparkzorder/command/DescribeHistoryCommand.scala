package org.sparkzorder.command

import java.sql.Timestamp

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types._

import org.sparkzorder.commit.{CommitProtocol, TableFolder}
import org.sparkzorder.commit.catalog.LocationHistory
import org.sparkzorder.commit.log.{History, HistoryEntry, TableState}
import org.sparkzorder.commit.upkeep.Trash
import org.sparkzorder.statement.Target
import org.sparkzorder.table.{PlainTables, TableLocation, TableSideFolder}

/**
 * `DESCRIBE HISTORY`: a row for each operation, newest first, with the number and size of its retired files that are
 * still kept. An undone operation has the version that the next one got. Its metrics give the reason, as do those of an
 * operation that another process finished after its owner had died.
 */
final case class DescribeHistoryCommand(target: Target) extends NamedCommand {

  override protected def resultColumns: StructType = NamedCommand.columns(
    "version" -> LongType,
    "timestamp" -> TimestampType,
    "userId?" -> StringType,
    "operation" -> StringType,
    "operationParameters?" -> MapType(StringType, StringType),
    "operationMetrics?" -> MapType(StringType, StringType),
    "state" -> StringType
  )

  override def title: String = s"DESCRIBE HISTORY ${target.title}"

  override protected def work(session: SparkSession): Seq[Row] = {
    val table = PlainTables.locate(session, target)
    if (TableRecovery.recover(table) == TableState.NoSideFolder) {
      // Throws an error if there is no table.
      PlainTables.open(table)
      Nil
    } else rows(table)
  }

  private def rows(table: TableLocation): Seq[Row] = {
    val folder = TableSideFolder.of(table)
    val history = History.read(folder)
    val left = DescribeHistoryCommand.inEarlierFolders(folder, history)
    val trash = Trash.all(folder, history).map(t => t.operation.operationId -> t).toMap
    // An undone operation ended before the one that got its version, so it comes after it here.
    (history ++ History.undone(folder)).sortBy(e => (-e.record.version, e.state == History.Undone, -e.time)).map {
      entry =>
        val r = entry.record
        val retired = trash.get(r.operationId)
        val (files, bytes) = left.getOrElse(r.operationId, retired.fold((0L, 0L))(t => (t.files.size.toLong, t.bytes)))
        val metrics = r.metrics ++ entry.publishMillis.map("publishMillis" -> _.toString) ++
          DescribeHistoryCommand.outcome(entry) ++ Map(
            "numTrashFiles" -> files.toString,
            "trashBytes" -> bytes.toString
          )
        Row(r.version, new Timestamp(r.timestamp), r.userId, r.operation, r.parameters, metrics, entry.state)
    }
  }
}

object DescribeHistoryCommand {

  /** Number and bytes of the files that are kept in earlier folders, by operation. */
  private def inEarlierFolders(folder: TableFolder, history: Seq[HistoryEntry]): Map[String, (Long, Long)] =
    if (!history.exists(_.record.way == CommitProtocol.Catalog)) Map.empty
    else {
      val locations = LocationHistory.read(folder)
      history.filter(_.record.way == CommitProtocol.Catalog).map { e =>
        val left =
          e.record.locationChanges.filter(c => locations.leftBy(c.from).exists(_.operationId == e.record.operationId))
        val files = if (e.state == History.Vacuumed) Nil else left.flatMap(_.inputs)
        e.record.operationId -> ((files.size.toLong, files.map(_.length).sum))
      }.toMap
    }

  /** Why an operation was undone, or why another process finished it. */
  private def outcome(entry: HistoryEntry): Map[String, String] = entry.outcome.fold(Map.empty[String, String]) { o =>
    Map("reason" -> o.reason) ++ o.by.map("recoveredBy" -> _) ++ o.by.map(_ => "recovered" -> "true")
  }
}
