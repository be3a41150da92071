package org.sparkzorder.optimize.keep

import org.apache.spark.sql.catalyst.parser.{CatalystSqlParser, ParseException}
import org.apache.spark.sql.types.DataType

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.indexing.MembershipColumns
import org.sparkzorder.indexing.MembershipColumns.Members
import org.sparkzorder.membership.MembershipKind
import org.sparkzorder.optimize.options.{OptionTable, OptionWithoutDefault, OptionsOfTable}
import org.sparkzorder.table.{KeyColumns, PlainTable}

private[sparkzorder] object ColumnLists {

  /**
   * @param text names separated by commas
   * @throws org.apache.spark.sql.AnalysisException when the text is something else, or a column is not there
   */
  def parse(table: PlainTable, option: OptionWithoutDefault[String], text: String): Seq[(Seq[String], DataType)] =
    KeyColumns.resolveAll(table, text.split(OptionsOfTable.comma).toSeq.map(parts(table, option, text, _)))

  private def parts(table: PlainTable, option: OptionWithoutDefault[String], all: String, name: String): Seq[String] =
    try CatalystSqlParser.parseMultipartIdentifier(name.trim)
    catch {
      case _: ParseException =>
        throw ZOrderErrors.invalidOptionValue(option.key, all, option.valueType.expected(table.formatName))
    }

  /**
   * The columns whose values the index keeps from now on; None if the statement does not say.
   *
   * @throws org.apache.spark.sql.AnalysisException when a column's values cannot be kept
   */
  def members(table: PlainTable, text: Option[String]): Option[Members] = text.map(_.trim).map {
    case none if none.equalsIgnoreCase("none") => Map.empty
    case names                                 =>
      parse(table, OptionTable.membershipColumns, names).map { case (path, _) =>
        MembershipColumns.checked(table, path).path -> MembershipKind.Values
      }.toMap
  }
}
