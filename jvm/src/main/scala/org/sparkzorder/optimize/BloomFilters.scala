package org.sparkzorder.optimize

import org.apache.spark.sql.catalyst.parser.{CatalystSqlParser, ParseException}
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.{BooleanType, DataType}

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.{DistinctValues, LayoutModel}
import org.sparkzorder.table.{KeyColumns, PlainTable}
import org.sparkzorder.write.{KeyColumn, RewriteUnit}

/** The columns that get Bloom filters of the file format's own writer, which its readers use with nothing of ours. */
private[sparkzorder] sealed trait BloomFilters {

  /** Options of the file writer. */
  def writeOptions(formatName: String, units: Seq[RewriteUnit], keys: Seq[KeyColumn])(
      model: LayoutModel
  ): Map[String, String]
}

private[sparkzorder] object BloomFilters {

  val Key = "bloom-filter-columns"

  case object Off extends BloomFilters {
    override def writeOptions(formatName: String, units: Seq[RewriteUnit], keys: Seq[KeyColumn])(
        model: LayoutModel
    ): Map[String, String] = Map.empty
  }

  /** Those that the layout cannot separate well enough. */
  case object Auto extends BloomFilters {
    override def writeOptions(formatName: String, units: Seq[RewriteUnit], keys: Seq[KeyColumn])(
        model: LayoutModel
    ): Map[String, String] = {
      val wanted = keys.indices.filter { k =>
        canHave(keys(k).path, keys(k).dataType) && units.zip(model.units).exists { case (unit, layout) =>
          layout.keys.nonEmpty &&
          DistinctValues.wantBloomFilter(layout.keys(k), unit.rows, layout.cuts.slots, keys.length)
        }
      }
      settings(formatName, wanted.map(keys(_).path))
    }
  }

  final case class Of(columns: Seq[Seq[String]]) extends BloomFilters {
    override def writeOptions(formatName: String, units: Seq[RewriteUnit], keys: Seq[KeyColumn])(
        model: LayoutModel
    ): Map[String, String] = settings(formatName, columns)
  }

  /**
   * @param text names with commas between them, `auto` or `none`
   * @throws org.apache.spark.sql.AnalysisException on what is none, or a column that cannot have one
   */
  def parse(table: PlainTable, text: Option[String]): BloomFilters = text.map(_.trim) match {
    case None                                  => Off
    case Some(t) if t.equalsIgnoreCase("none") => Off
    case Some(t) if t.equalsIgnoreCase("auto") => Auto
    case Some(names)                           =>
      val columns = KeyColumns.resolveAll(table, names.split(BetweenNames).toSeq.map(parts(names, _)))
      columns.find { case (path, dataType) => !canHave(path, dataType) }.foreach { case (path, dataType) =>
        val why = if (dataType == BooleanType) "of a type with more than two values" else "without dots in their names"
        throw ZOrderErrors.invalidOptionValue(Key, quoteNameParts(path), s"columns $why")
      }
      Of(columns.map(_._1))
  }

  // Commas outside of backquotes.
  private val BetweenNames = ",(?=(?:[^`]*`[^`]*`)*[^`]*$)"

  private def parts(all: String, name: String): Seq[String] =
    try CatalystSqlParser.parseMultipartIdentifier(name.trim)
    catch {
      case _: ParseException =>
        throw ZOrderErrors.invalidOptionValue(Key, all, "names of columns with commas between them, auto or none")
    }

  // The writers are told of a column by its path with dots between.
  private def canHave(path: Seq[String], dataType: DataType): Boolean =
    dataType != BooleanType && !path.exists(_.contains("."))

  /** Options of the file writer for filters of these columns. */
  def settings(formatName: String, columns: Seq[Seq[String]]): Map[String, String] = {
    val names = columns.map(_.mkString("."))
    if (names.isEmpty) Map.empty
    else if (formatName == "orc") Map("orc.bloom.filter.columns" -> names.mkString(","))
    else {
      // Sized by the values that come, not by the most that could.
      names.map(n => s"parquet.bloom.filter.enabled#$n" -> "true").toMap +
        ("parquet.bloom.filter.adaptive.enabled" -> "true")
    }
  }
}
