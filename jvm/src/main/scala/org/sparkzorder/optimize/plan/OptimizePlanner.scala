package org.sparkzorder.optimize.plan

import org.apache.spark.SparkException

import org.sparkzorder.errors.{ZOrderErrors, ZOrderRuntimeException}
import org.sparkzorder.footer.SchemaDifference
import org.sparkzorder.optimize.auto.AutoLayout
import org.sparkzorder.statement.LayoutClause
import org.sparkzorder.table.{FolderColumns, PartitionPredicate, PlainTable, PlainTables}

private[sparkzorder] object OptimizePlanner {

  /** Throws an error if the statement is wrong, as far as this can be told without a look into the files. */
  def check(context: StatementContext): Unit = {
    import context.{options, statement, table}
    statement.where.foreach(PartitionPredicate.check(table, _))
    val isAuto = statement.layout.contains(LayoutClause.Auto)
    if (options.hotRanges && !isAuto) throw ZOrderErrors.hotRangesWithoutAuto
    LayoutChoice.check(table, statement.layout, options, statement.joins)
    if (isAuto) AutoLayout.check(table)
    val _ = (context.bloomFilters, context.members)
  }

  /** @throws org.apache.spark.sql.AnalysisException when the statement cannot be carried out on this table */
  def plan(context: StatementContext): OptimizePlan =
    try new PlanningSteps(context).plan
    catch {
      case DriftedException(_) if context.table.catalogTable.isEmpty =>
        // The schema of a folder is that of one of its files. Another file may have more columns.
        try new PlanningSteps(context.copy(table = withMergedSchema(context.table))).plan
        catch { case DriftedException(drift) => throw errorOf(drift) }
      case DriftedException(drift) => throw errorOf(drift)
    }

  /** The table with the columns of all its files; the same table if they cannot be merged. */
  private def withMergedSchema(table: PlainTable): PlainTable =
    try PlainTables.open(table, FolderColumns.OfFiles(merged = true))
    catch { case _: SparkException | _: ZOrderRuntimeException => table }

  private def errorOf(drift: SchemaDifference): Throwable =
    ZOrderErrors.schemaDrift(drift.file, drift.column.mkString("."), drift.reason, drift.anySchema)
}
