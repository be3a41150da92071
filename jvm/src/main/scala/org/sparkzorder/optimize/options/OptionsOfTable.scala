package org.sparkzorder.optimize.options

import java.util.Locale

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.parser.{CatalystSqlParser, ParseException}

import org.sparkzorder.codec.Json
import org.sparkzorder.conf.{Setting, TableProperties}
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.statement.{LayoutClause, WeightedColumn}
import org.sparkzorder.table.PlainTable

/** What the table properties say for each OPTIMIZE that does not say it itself. */
private[sparkzorder] object OptionsOfTable {

  /**
   * The options that a statement sets, and those of the table that it leaves open.
   *
   * @throws org.apache.spark.sql.AnalysisException when a property has a value that is not allowed
   */
  def merged(table: PlainTable, asWritten: Seq[(String, String)]): Seq[(String, String)] = {
    val said = asWritten.map(_._1.toLowerCase(Locale.ROOT)).toSet
    val saysSize = said(OptionTable.targetFileSize.key) || said(OptionTable.numFiles.key)
    asWritten ++
      of(table, TableProperties.targetFileSize, OptionTable.targetFileSize).filterNot(_ => saysSize) ++
      of(table, TableProperties.retainHours, OptionTable.retainHours).filterNot(o => said(o._1)) ++
      of(table, TableProperties.commitMode, OptionTable.commitMode).filterNot(o => said(o._1))
  }

  private def of(table: PlainTable, property: Setting, option: OptimizeOption[_]): Option[(String, String)] =
    valueOf(table, property).map { value =>
      if (option.valueType.read(value, table.formatName).isEmpty)
        throw ZOrderErrors.invalidProperty(table.name, property.key, value, option.valueType.expected(table.formatName))
      option.key -> value
    }

  private def valueOf(table: PlainTable, property: Setting): Option[String] =
    table.catalogTable.flatMap(_.properties.get(property.key)).map(_.trim)

  val layoutProperty: String = TableProperties.optimizeBy.key

  /** The table property in which Spark keeps the columns of CLUSTER BY. */
  val clusteringProperty = "clusteringColumns"

  /** A property as it is set; empty without it. */
  def text(table: PlainTable, property: String): String =
    table.catalogTable.flatMap(_.properties.get(property)).getOrElse("")

  private val curve = """(?is)(zorder|hilbert|order)\s+by\s+(.+)""".r
  private val parentheses = """(?s)\((.*)\)""".r
  private val weighted = """(?is)(.+?)\s+weight\s+(\S+)""".r

  /** Commas that are not in backquotes. */
  val comma = ",(?=(?:[^`]*`[^`]*`)*[^`]*$)"

  /**
   * The layout that the table property names, such as `a, b WEIGHT 2` or `HILBERT BY (a, s.b)`.
   *
   * @throws org.apache.spark.sql.AnalysisException when the property names none
   */
  def layout(table: PlainTable): Option[LayoutClause.By] =
    table.catalogTable.flatMap(t => layout(table.name, t.properties))

  /** The columns of Spark's CLUSTER BY. */
  def clusteredBy(properties: Map[String, String]): Option[LayoutClause.By] =
    properties.get(clusteringProperty).flatMap { json =>
      val columns = Json.parse(json).toSeq.flatMap(Json.elements).map(c => WeightedColumn(Json.texts(c), None))
      if (columns.isEmpty || columns.exists(_.parts.isEmpty)) None
      else Some(LayoutClause.By(LayoutSpec.ZOrder, columns))
    }

  /**
   * The layout that a table declares.
   *
   * @throws org.apache.spark.sql.AnalysisException when it declares none, or its property names none
   */
  def layoutOf(table: CatalogTable): LayoutClause.By = {
    val name = table.identifier.quotedString
    layout(name, table.properties).orElse(clusteredBy(table.properties))
      .getOrElse(throw ZOrderErrors.invalidProperty(name, layoutProperty, "", "a layout such as 'a, b WEIGHT 2'"))
  }

  private def layout(name: String, properties: Map[String, String]): Option[LayoutClause.By] =
    properties.get(layoutProperty).map(_.trim).map(parsed(name, _))

  private def parsed(table: String, text: String): LayoutClause.By = {
    val (curveName, rest) = text match {
      case curve(word, columns) => (word.toLowerCase(Locale.ROOT), columns.trim)
      case columns              => (LayoutSpec.ZOrder, columns)
    }
    val columns = rest match {
      case parentheses(inside) => inside
      case open                => open
    }
    try LayoutClause.By(curveName, columns.split(comma, -1).toSeq.map(_.trim).map(column))
    catch {
      case _: ParseException =>
        throw ZOrderErrors.invalidProperty(table, layoutProperty, text, "a layout such as 'a, b WEIGHT 2'")
    }
  }

  private def column(text: String): WeightedColumn = text match {
    case weighted(name, weight) => WeightedColumn(CatalystSqlParser.parseMultipartIdentifier(name), Some(weight))
    case name                   => WeightedColumn(CatalystSqlParser.parseMultipartIdentifier(name), None)
  }
}
