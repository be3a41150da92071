package org.sparkzorder.optimize.keep

import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.{BooleanType, DataType, DoubleType, FloatType}

import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.{DistinctValues, LayoutModel}
import org.sparkzorder.optimize.options.OptionTable
import org.sparkzorder.table.PlainTable
import org.sparkzorder.write.{FileGroup, KeyColumn}
import org.sparkzorder.write.encode.ColumnSetting

/**
 * The columns that get Bloom filters. Parquet's or ORC's own writer writes them, so readers without
 * this library can use them, too.
 */
private[sparkzorder] sealed trait BloomFilters {

  /** Options for the file writer, given how the statement lays out each unit. */
  def writeOptions(formatName: String, units: Seq[FileGroup], keys: Seq[KeyColumn])(
      model: LayoutModel
  ): Map[String, String] = this match {
    case BloomFilters.Off         => Map.empty
    case BloomFilters.Of(columns) => BloomFilters.settings(formatName, columns)
    case BloomFilters.Auto        =>
      val wanted = keys.zipWithIndex.filter { case (key, k) =>
        key.isOfFiles && BloomFilters.canBeNamed(formatName, key.path) && !BloomFilters.misleads(key.dataType) &&
        units.zip(model.units).exists { case (unit, layout) =>
          layout.keys.nonEmpty &&
          DistinctValues.wantBloomFilter(layout.keys(k), unit.rows, layout.cuts.slots, keys.length)
        }
      }
      BloomFilters.settings(formatName, wanted.map(_._1.path))
  }
}

private[sparkzorder] object BloomFilters {

  private val option = OptionTable.bloomFilterColumns

  case object Off extends BloomFilters

  /** The key columns whose values the layout cannot separate well enough by itself. */
  case object Auto extends BloomFilters

  final case class Of(columns: Seq[Seq[String]]) extends BloomFilters

  /**
   * @param text names separated by commas, `auto` or `none`; None if the statement does not say
   * @throws org.apache.spark.sql.AnalysisException when the text is something else, or a column cannot have a filter
   */
  def parse(table: PlainTable, text: Option[String]): BloomFilters = text.map(_.trim) match {
    case None                                  => Off
    case Some(t) if t.equalsIgnoreCase("none") => Off
    case Some(t) if t.equalsIgnoreCase("auto") => Auto
    case Some(names)                           =>
      val columns = ColumnLists.parse(table, option, names)
      columns.find { case (path, t) => !canBeNamed(table.formatName, path) || misleads(t) }.foreach { case (path, t) =>
        val commas = if (table.formatName == "orc") ", commas" else ""
        val why =
          if (misleads(t)) "of other types than BOOLEAN, FLOAT and DOUBLE"
          else s"without dots$commas and blanks at the end in their names"
        throw ZOrderErrors.invalidOptionValue(option.key, quoteNameParts(path), s"columns $why")
      }
      Of(columns.map(_._1))
  }

  /** Whether the settings of the file writer can name a column. ORC has a list with commas between the columns. */
  def canBeNamed(formatName: String, column: Seq[String]): Boolean =
    ColumnSetting.key("", column).isDefined &&
      !(formatName == "orc" && column.exists(name => name.contains(",") || name != name.trim))

  /** Whether readers that ask a filter lose rows, see [[org.sparkzorder.write.encode.MisleadingFilters]]. */
  private def misleads(t: DataType): Boolean = t == BooleanType || t == FloatType || t == DoubleType

  def lost(column: Seq[String]): String = s"Bloom filter of ${quoteNameParts(column)}"

  def settings(formatName: String, columns: Seq[Seq[String]]): Map[String, String] = {
    val names = columns.map(_.mkString("."))
    if (names.isEmpty) Map.empty
    else if (formatName == "orc") Map("orc.bloom.filter.columns" -> names.mkString(","))
    else {
      // Adaptive filters are as large as the values of the file need. Others are as large as they may ever get.
      names.map(n => s"parquet.bloom.filter.enabled#$n" -> "true").toMap +
        ("parquet.bloom.filter.adaptive.enabled" -> "true")
    }
  }

  /**
   * The same for filters that the old files have. A writer holds filters of several sizes for each column until the
   * file ends, together twice the size of the largest. DuckDB gives one to every column of a file, of which there may
   * be hundreds.
   */
  def kept(formatName: String, columns: Seq[Seq[String]]): Map[String, String] = {
    val each = MostBytes / 2 / math.max(1, columns.length)
    settings(formatName, columns) ++ Option.when(formatName == "parquet" && each < UsualMostBytes)(
      "parquet.bloom.filter.max.bytes" -> java.lang.Long.highestOneBit(math.max(each, LeastBytes)).toString
    )
  }

  /** In all filters that a file's writer has in memory. */
  private val MostBytes = 64L << 20

  /** Parquet's default for one filter. */
  private val UsualMostBytes = 1L << 20
  private val LeastBytes = 4096L
}
