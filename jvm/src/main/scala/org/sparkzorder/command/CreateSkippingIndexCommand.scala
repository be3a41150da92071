package org.sparkzorder.command

import java.util.UUID

import org.apache.spark.sql.{Row, SparkSession}

import org.sparkzorder.commit.log.History
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.{ExcludedColumns, TableIndex}
import org.sparkzorder.optimize.plan.FileOrigin
import org.sparkzorder.statement.Target
import org.sparkzorder.stats.ColumnKey
import org.sparkzorder.table.{KeyColumns, PlainTable, PlainTables, TableSideFolder}

/**
 * `CREATE [OR REPLACE] SKIPPING INDEX`: collects statistics of all files of a table.
 *
 * @param columns names of the columns; empty for all columns that can have statistics
 */
final case class CreateSkippingIndexCommand(target: Target, columns: Seq[Seq[String]], replace: Boolean)
    extends LongCommand {

  override def operation: String = "CREATE SKIPPING INDEX"

  override def tableName: String = target.title

  override def title: String = s"$operation ON $tableName"

  override protected def metricNames: Seq[LongCommand.Metric] = Seq(CreateSkippingIndexCommand.Files)

  override protected def reported(session: SparkSession): Seq[Row] = {
    val place = PlainTables.locate(session, target)
    TableRecovery.settle(place, operation)
    val table = PlainTables.open(place)
    val chosen = CreateSkippingIndexCommand.chosen(table, columns)
    val folder = TableSideFolder.of(table)
    def refuseExisting(): Unit =
      if (!replace && TableIndex.of(table, folder).isDefined) throw ZOrderErrors.indexExists(table.name)
    refuseExisting()
    TableLocking.refuseBusy(table)
    // Reads the files before it takes the lock, which creates the side folder. If a file cannot be
    // read, the table's folder is unchanged.
    val earlier =
      TableLocking.translated(table, operation)(TableIndex.build(table, table.listed.flatMap(_.files), chosen))
    TableLocking.locked(table, operation, UUID.randomUUID().toString) { lock =>
      refuseExisting()
      val stats = TableIndex.build(table, table.files(), chosen, earlier)
      val restricted = if (columns.isEmpty) None else Some(chosen.map(_.path))
      val before = TableIndex.of(table, folder)
      val unknown =
        stats.map(_._1).filterNot(id => before.exists(_.ordinalOf(id.path, id.length, id.modificationTime) >= 0))
      val origins = FileOrigin.ofRecords(unknown, History.newestFirst(folder))
      TableIndex.replace(table, folder, lock, restricted, stats, before, origins)
      show(session, CreateSkippingIndexCommand.Files.name -> stats.size.toLong)
    }
    Nil
  }
}

object CreateSkippingIndexCommand {
  private val Files = LongCommand.Metric("files with statistics")

  /** The columns with these names. Refuses columns that cannot have statistics. */
  private def chosen(table: PlainTable, columns: Seq[Seq[String]]): Seq[ColumnKey] = {
    val usable = TableIndex.usableColumns(table)
    if (columns.isEmpty) usable
    else {
      val byPath = usable.map(c => c.path -> c).toMap
      KeyColumns.resolveAll(table, columns).map { case (path, dataType) =>
        byPath.getOrElse(
          path,
          throw (if (ExcludedColumns.of(table)(path)) ZOrderErrors.excludedColumn(path, ExcludedColumns.Property)
                 else ZOrderErrors.unsupportedColumnType(path, dataType.sql))
        )
      }
    }
  }
}
