package org.sparkzorder.optimize.plan

import org.sparkzorder.commit.log.TableState
import org.sparkzorder.indexing.MembershipColumns.Members
import org.sparkzorder.optimize.check.CommitMode
import org.sparkzorder.optimize.keep.{BloomFilters, ColumnLists}
import org.sparkzorder.optimize.options.{OptimizeOptions, OptionsOfTable}
import org.sparkzorder.statement.OptimizeStatement
import org.sparkzorder.table.{FolderColumns, PlainTable, PlainTables, TableLocation}

/**
 * What an OPTIMIZE knows of its table. It is made once, and once more under the lock if the table
 * has another version by then.
 *
 * @param table with its files
 * @param state of the side folder, from before the files were listed
 * @param options of the statement and of the table's properties
 */
private[sparkzorder] final case class StatementContext(
    statement: OptimizeStatement,
    table: PlainTable,
    state: TableState,
    options: OptimizeOptions
) {
  def version: Long = state.version

  /**
   * Whether the statement tells the catalog of new folders.
   *
   * @throws org.apache.spark.sql.AnalysisException when the table cannot be published in the way that is asked for
   */
  lazy val isByCatalog: Boolean = CommitMode.isCatalog(table, state, options.commitMode)

  /** @throws org.apache.spark.sql.AnalysisException when the option names what cannot have a filter */
  lazy val bloomFilters: BloomFilters = BloomFilters.parse(table, options.bloomFilters)

  /** @throws org.apache.spark.sql.AnalysisException when the option names what cannot be kept */
  lazy val members: Option[Members] = ColumnLists.members(table, options.members)
}

private[sparkzorder] object StatementContext {

  /**
   * Lists the table's files and parses the options.
   *
   * @param state read before, so that an operation that ends while the files are listed does not go unnoticed
   * @throws org.apache.spark.sql.AnalysisException when an option or a property is wrong
   */
  def of(statement: OptimizeStatement, location: TableLocation, state: TableState): StatementContext = {
    val table = PlainTables.open(location, FolderColumns.OfFiles())
    val written = OptionsOfTable.merged(table, statement.options)
    val options = OptimizeOptions.parse(written, table.formatName, table.listed.map(_.bytes))
    StatementContext(statement, table, state, options)
  }
}
