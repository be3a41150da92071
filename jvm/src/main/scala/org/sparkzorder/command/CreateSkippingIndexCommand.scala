package org.sparkzorder.command

import org.apache.spark.sql.{Row, SparkSession}

import org.sparkzorder.commit.log.History
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.{ExcludedColumns, MembershipColumns, TableIndex}
import org.sparkzorder.indexing.MembershipColumns.Members
import org.sparkzorder.membership.MembershipKind
import org.sparkzorder.optimize.plan.FileOrigin
import org.sparkzorder.statement.{IndexColumn, Target}
import org.sparkzorder.stats.IndexedColumns
import org.sparkzorder.table.{KeyColumns, PlainTable, PlainTables, TableSideFolder}

/**
 * `CREATE [OR REPLACE] SKIPPING INDEX`: collects statistics of all files of a table.
 *
 * @param columns that are named
 * @param all whether all columns that can have statistics are indexed, also those that are not named
 */
final case class CreateSkippingIndexCommand(target: Target, columns: Seq[IndexColumn], all: Boolean, replace: Boolean)
    extends LongCommand {

  override def operation: String = "CREATE SKIPPING INDEX"

  override def tableName: String = target.title

  override def title: String = s"$operation ON $tableName"

  override protected def metricNames: Seq[String] = Seq("files with statistics")

  override protected def reported(session: SparkSession): Seq[Row] = {
    val location = PlainTables.locate(session, target)
    TableRecovery.settle(location, operation)
    val table = PlainTables.open(location)
    val members = CreateSkippingIndexCommand.members(table, columns)
    val chosen = CreateSkippingIndexCommand.chosen(table, columns, all, members)
    val folder = TableSideFolder.of(table)
    def refuseExisting(): Unit =
      if (!replace && TableIndex.of(table, folder).isDefined) throw ZOrderErrors.indexExists(table.name)
    refuseExisting()
    TableLocking.refuseBusy(table)
    // Reads the files before it takes the lock, which creates the side folder. If a file cannot be
    // read, the table's folder is unchanged.
    val earlier =
      TableLocking.translated(table, operation)(TableIndex.build(table, table.listed.flatMap(_.files), chosen))
    TableLocking.locked(table, operation) { lock =>
      refuseExisting()
      val stats = TableIndex.build(table, table.files(), chosen, earlier)
      val restricted = if (all) None else Some(chosen.keys.map(_.path))
      val before = TableIndex.of(table, folder)
      val unknown =
        stats.map(_._1).filterNot(id => before.exists(_.ordinalOf(id.path, id.length, id.modificationTime) >= 0))
      val origins = FileOrigin.ofRecords(unknown, History.newestFirst(folder))
      TableIndex.replace(table, folder, lock, restricted, members, stats, before, origins)
      show(session, stats.size.toLong)
    }
    Nil
  }
}

object CreateSkippingIndexCommand {

  /** The columns with these names. Refuses columns that cannot have statistics. */
  private def chosen(table: PlainTable, columns: Seq[IndexColumn], all: Boolean, members: Members): IndexedColumns = {
    val usable = TableIndex.usableColumns(table)
    val byPath = usable.map(c => c.path -> c).toMap
    val named = KeyColumns.resolveAll(table, columns.map(_.parts)).map { case (path, dataType) =>
      byPath.getOrElse(
        path,
        throw (if (ExcludedColumns.of(table)(path)) ZOrderErrors.excludedColumn(path, ExcludedColumns.Property)
               else ZOrderErrors.unsupportedColumnType(path, dataType.sql))
      )
    }
    IndexedColumns(if (all) usable else named, MembershipColumns.keys(members, named))
  }

  /** The columns whose values are kept. Refuses columns of which they cannot be. */
  private def members(table: PlainTable, columns: Seq[IndexColumn]): Members = {
    for {
      column <- columns
      kind <- column.kind.flatMap(MembershipKind.of)
    } yield {
      val (path, _) = KeyColumns.resolve(table, column.parts)
      MembershipColumns.checked(table, path).path -> kind
    }
  }.toMap
}
