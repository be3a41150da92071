package org.sparkzorder.optimize.plan

import org.apache.spark.SparkException

import org.sparkzorder.commit.log.TableState
import org.sparkzorder.errors.{ZOrderErrors, ZOrderRuntimeException}
import org.sparkzorder.footer.SchemaDrift
import org.sparkzorder.optimize.auto.AutoLayout
import org.sparkzorder.optimize.check.CommitMode
import org.sparkzorder.optimize.keep.BloomFilters
import org.sparkzorder.optimize.options.{OptimizeOptions, OptionsOfTable}
import org.sparkzorder.statement.{LayoutClause, OptimizeStatement}
import org.sparkzorder.table.{
  FolderColumns,
  PartitionPredicate,
  PlainTable,
  PlainTables,
  TableLocation,
  TableSideFolder
}

private[sparkzorder] object OptimizePlanner {

  /**
   * Throws an error if the statement is wrong, as far as this can be told without a look into the
   * files.
   */
  def check(table: PlainTable, statement: OptimizeStatement): Unit = {
    val options =
      OptimizeOptions.parse(OptionsOfTable.merged(table, statement.options), table.formatName, tableBytes = 0)
    statement.where.foreach(PartitionPredicate.check(table, _))
    val isAuto = statement.layout.contains(LayoutClause.Auto)
    if (options.hotRanges && !isAuto) throw ZOrderErrors.hotRangesWithoutAuto
    LayoutChoice.check(table, statement.layout, options)
    if (isAuto) AutoLayout.recorded(table)
    BloomFilters.parse(table, options.bloomFilters)
    ()
  }

  /** Whether the statement tells the catalog of new folders. Refuses tables that cannot be published so. */
  def isByCatalog(listed: ListedTable, statement: OptimizeStatement): Boolean = {
    val options = OptimizeOptions.parse(
      OptionsOfTable.merged(listed.table, statement.options),
      listed.table.formatName,
      tableBytes = 0
    )
    CommitMode.isCatalog(listed.table, listed.state, options.commitMode)
  }

  /**
   * Looks at the state first, so that an operation that ends while the files are listed does not go
   * unnoticed.
   */
  def list(place: TableLocation): ListedTable = list(place, look(place))

  def list(place: TableLocation, state: TableState): ListedTable =
    ListedTable(state, PlainTables.open(place, FolderColumns.OfFiles()))

  def look(place: TableLocation): TableState = TableState.look(place.root, TableSideFolder.of(place).ops)

  /**
   * @throws org.apache.spark.sql.AnalysisException when the statement cannot be carried out on this
   *   table
   */
  def plan(listed: ListedTable, statement: OptimizeStatement): OptimizePlan =
    try new PlanningSteps(listed, statement).plan
    catch {
      case DriftedException(_) if listed.table.catalogTable.isEmpty =>
        // The schema of a folder is that of one of its files. Another file may have more columns.
        try new PlanningSteps(listed.copy(table = withMergedSchema(listed.table)), statement).plan
        catch { case DriftedException(drift) => throw errorOf(drift) }
      case DriftedException(drift) => throw errorOf(drift)
    }

  /** The table with the columns of all its files; the same table if they cannot be merged. */
  private def withMergedSchema(table: PlainTable): PlainTable =
    try PlainTables.open(table, FolderColumns.OfFiles(merged = true))
    catch { case _: SparkException | _: ZOrderRuntimeException => table }

  private def errorOf(drift: SchemaDrift): Throwable =
    ZOrderErrors.schemaDrift(drift.file, drift.column.mkString("."), drift.reason, drift.anySchema)
}
