package org.sparkzorder.footer

import scala.collection.mutable

import org.apache.spark.sql.execution.datasources.parquet.ParquetUtils
import org.apache.spark.sql.types._

import org.sparkzorder.compat._
import org.sparkzorder.shim.SparkShim.VariantType

/** Why a file cannot be rewritten under the table's schema; with `anySchema`, under any schema, without loss. */
final case class SchemaDifference(file: String, column: Seq[String], reason: String, anySchema: Boolean = false)

/** Checks whether a file reads back the same rows after it was rewritten under the table's schema. */
object SchemaCheck {

  /**
   * The first file with something that the schema cannot hold. The schema may be the odd one, so the reason counts
   * files.
   */
  def exactlyReadable(
      tableSchema: StructType,
      footers: Iterable[FileFooter],
      settings: FooterSettings
  ): Either[SchemaDifference, Unit] = {
    val found = footers.toSeq.map(f => f.path -> drift(tableSchema, f, settings))
    val fits = found.collectFirst { case (path, None) => path }
    found.flatMap(_._2).headOption.map { first =>
      val alike = found.count(_._2.exists(_.copy(file = first.file) == first))
      def counted(other: String) = s"${first.reason}; that is so in $alike of ${found.size} files, and not in $other"
      fits.fold(first)(other => first.copy(reason = counted(other)))
    }.toLeft(())
  }

  /**
   * Why rewriting the file would lose something; None when nothing is lost.
   *
   * A column that the file lacks is read as null or default, and written so. Types must be equal, or Spark's own
   * readers must widen them without loss. INT96 counts as microseconds, since Spark reads no more of it.
   */
  def drift(tableSchema: StructType, footer: FileFooter, settings: FooterSettings): Option[SchemaDifference] = {
    def at(found: (List[String], String)) = SchemaDifference(footer.path, found._1.reverse, found._2)
    val names = footer.schema.fieldNames.toSeq
    if (settings.fieldIds && ParquetUtils.hasFieldIds(tableSchema))
      Some(at((Nil, "the table's columns are found by Parquet field ids")))
    else if (footer.unreadable.nonEmpty)
      footer.unreadable.headOption.map(u => SchemaDifference(footer.path, u.column, u.reason, anySchema = true))
    else if (footer.positional && names != tableSchema.fieldNames.take(names.size).toSeq) {
      Some(at((Nil, "its columns are known by their position only")))
    } else struct(tableSchema, footer.schema, Nil, new Rules(footer.format, settings, exact = true)).map(at)
  }

  /**
   * Tells of a column whether Spark's readers give the file's values in the table's type, or null if
   * the file lacks it. A job that reads any other column of this file would fail.
   */
  def scannable(tableSchema: StructType, footer: FileFooter, caseSensitive: Boolean): Seq[String] => Boolean = {
    val rules = new Rules(footer.format, FooterSettings(caseSensitive, fieldIds = false), exact = false)
    val unreadable = footer.unreadable.map(u => rules.fold(u.column.head)).toSet
    val pair = new Pair(tableSchema, footer.schema, rules)
    path => !unreadable(rules.fold(path.head)) && (footer.positional || pair.fits(path.toList))
  }

  /** A struct of the table and the file's struct of the same name. Columns are found by name. */
  private final class Pair(table: StructType, file: StructType, rules: Rules) {
    private lazy val inTable = table.fields.reverseIterator.map(f => f.name -> f.dataType).toMap
    private lazy val inFile = file.fields.groupBy(f => rules.fold(f.name))
    private val below = mutable.Map.empty[String, Pair]

    def fits(names: List[String]): Boolean = inFile.get(rules.fold(names.head)) match {
      case None             => true
      case Some(Array(one)) => (inTable.get(names.head), one.dataType, names.tail) match {
          case (Some(t), f, Nil)                           => value(t, f, Nil, rules).isEmpty
          case (Some(t: StructType), f: StructType, inner) =>
            below.getOrElseUpdate(names.head, new Pair(t, f, rules)).fits(inner)
          case _ => false
        }
      case _ => false
    }
  }

  /** @param exact whether the values must come back exactly as they are in the file */
  private final class Rules(val format: DataFormat, settings: FooterSettings, val exact: Boolean) {
    def fold(name: String): String = if (settings.caseSensitive) name else ColumnFinder.fold(name)
  }

  private def struct(
      table: StructType,
      file: StructType,
      at: List[String],
      rules: Rules
  ): Option[(List[String], String)] = {
    val inTable = table.fields.toSeq.groupBy(f => rules.fold(f.name))
    val inFile = file.fields.toSeq.groupBy(f => rules.fold(f.name))
    file.fields.iterator.flatMap { f =>
      val here = f.name :: at
      val name = rules.fold(f.name)
      inTable.get(name) match {
        case None                              => Some((here, "the table's schema has no such column"))
        case Some(several) if several.size > 1 => Some((here, "the table has several columns of this name"))
        case Some(_) if inFile(name).size > 1  => Some((here, "the file has several columns of this name"))
        case Some(one)                         => value(one.head.dataType, f.dataType, here, rules)
      }
    }.nextOption()
  }

  private def value(table: DataType, file: DataType, at: List[String], rules: Rules): Option[(List[String], String)] =
    (table, file) match {
      case (u: UserDefinedType[_], _)               => value(u.sqlType, file, at, rules)
      case (t: StructType, f: StructType)           => struct(t, f, at, rules)
      case (ArrayType(t, _), ArrayType(f, _))       => value(t, f, "element" :: at, rules)
      case (MapType(tk, tv, _), MapType(fk, fv, _)) =>
        value(tk, fk, "key" :: at, rules).orElse(value(tv, fv, "value" :: at, rules))
      case _ if same(table, file, rules) || widens(table, file) => None
      case _ => Some((at, s"the file has ${file.catalogString} where the table has ${table.catalogString}"))
    }

  private def same(table: DataType, file: DataType, rules: Rules): Boolean = (table, file) match {
    case (t, f) if t == f => true
    // Files know no collations and no lengths. Old writers left strings in Parquet without an annotation.
    case (_: StringType | _: CharType | _: VarcharType, _: StringType | _: CharType | _: VarcharType) => true
    case (_: StringType, BinaryType) => rules.format == DataFormat.Parquet
    // Parquet has no type for intervals; Spark writes plain integers.
    case (_: YearMonthIntervalType, IntegerType) | (_: DayTimeIntervalType, LongType) =>
      rules.format == DataFormat.Parquet
    case (VariantType, s: StructType) => rules.format == DataFormat.Parquet && isVariant(s)
    case _                            => TimePrecision.of(table).exists { kept =>
        // Spark's readers cut off the digits that the table's type does not have.
        TimePrecision.of(file).exists(_ <= kept || !rules.exact)
      }
  }

  private def widens(table: DataType, file: DataType): Boolean = (file, table) match {
    case (ByteType, ShortType | IntegerType | LongType | DoubleType) => true
    case (ShortType, IntegerType | LongType | DoubleType)            => true
    case (IntegerType, LongType | DoubleType)                        => true
    case (FloatType, DoubleType)                                     => true
    case (f: DecimalType, t: DecimalType)                            => f.scale == t.scale && f.precision <= t.precision
    case _                                                           => false
  }

  private def isVariant(s: StructType): Boolean = {
    val names = s.fieldNames.toSet
    names("value") && names("metadata") && names.subsetOf(Set("value", "metadata", "typed_value"))
  }
}

private[footer] object TimePrecision {

  private val name = """time\((\d+)\)""".r

  /** None for other types. The type's name decides, since Spark 4.0 does not have the class. */
  def of(dataType: DataType): Option[Int] = dataType.typeName match {
    case name(digits) => Some(digits.toInt)
    case _            => None
  }
}
