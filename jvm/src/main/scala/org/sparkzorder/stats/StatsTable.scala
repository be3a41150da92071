package org.sparkzorder.stats

import java.util.BitSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import org.sparkzorder.membership.ColumnMembership

/** The statistics of many files, column by column. A file is known by its ordinal, 0 until `files`. */
trait StatsTable {
  def files: Int

  def rows: Array[Long]

  /** Whether every file is known to have rows. */
  def allHaveRows: Boolean = {
    val counts = rows
    var i = 0
    while (i < counts.length && counts(i) > 0L) i += 1
    i == counts.length
  }

  /**
   * Those that were collected with exactly this path and type. None when there are none, so that every file is read.
   */
  def column(path: Seq[String], dataType: DataType): Option[StatsColumn]

  /**
   * Which values the files have in a column, under exactly this path and type. They may be used only
   * for files that have bounds in [[column]]: what makes bounds unknown makes the values unknown too.
   */
  def members(path: Seq[String], dataType: DataType): Option[ColumnMembership] = None
}

/** A column of a [[StatsTable]], with the fields of [[ColumnStats]] as arrays with one entry for each file. */
sealed trait StatsColumn {

  /** Whether file i has bounds. If not, its entries of min and max have no meaning. */
  def bounded: java.util.BitSet

  /** The null counts; -1 where unknown. */
  def nullCounts: Array[Long]

  /** The NaN counts; -1 where unknown. Null for a type that has no NaN. */
  def nanCounts: Array[Long]
}

final class LongStatsColumn(
    val min: Array[Long],
    val max: Array[Long],
    val bounded: java.util.BitSet,
    val nullCounts: Array[Long],
    val nanCounts: Array[Long]
) extends StatsColumn {

  /** Whether each file has bounds and neither null nor NaN, as key columns usually do. */
  lazy val isComplete: Boolean =
    bounded.cardinality == min.length && isZero(nullCounts) && (nanCounts == null || isZero(nanCounts))

  private def isZero(counts: Array[Long]): Boolean = {
    var i = 0
    while (i < counts.length && counts(i) == 0L) i += 1
    i == counts.length
  }
}

final class BytesStatsColumn(
    val min: ByteStrings,
    val max: ByteStrings,
    val bounded: java.util.BitSet,
    val nullCounts: Array[Long]
) extends StatsColumn {
  def nanCounts: Array[Long] = null
}

/**
 * Statistics of files, and of partition columns: each is one value in all rows of a file; null where it is not known.
 */
final class StatsWithPartitions(table: StatsTable, schema: StructType, values: Array[InternalRow]) extends StatsTable {

  override def files: Int = table.files
  override def rows: Array[Long] = table.rows
  override def allHaveRows: Boolean = table.allHaveRows

  /** A column of the files that is named like a partition column is hidden by it. */
  override def column(path: Seq[String], dataType: DataType): Option[StatsColumn] =
    if (isOfFiles(path)) table.column(path, dataType)
    else
      OrderedValue.encoding(dataType).filter(_ => schema(path.head).dataType == dataType && hasOneForm(dataType))
        .map(ofPartitions(schema.fieldIndex(path.head), dataType, _))

  override def members(path: Seq[String], dataType: DataType): Option[ColumnMembership] =
    if (isOfFiles(path)) table.members(path, dataType) else None

  private def isOfFiles(path: Seq[String]) = path.size > 1 || !schema.fieldNames.contains(path.head)

  /** Spark leaves a decimal of a folder's name with the digits that it has there, whatever its type. */
  private def hasOneForm(dataType: DataType): Boolean = !dataType.isInstanceOf[DecimalType]

  private def ofPartitions(i: Int, dataType: DataType, encoding: Encoding): StatsColumn = {
    val own: Array[Any] = values.map(row => if (row == null || row.isNullAt(i)) null else row.get(i, dataType): Any)
    def isNaN(f: Int): Boolean = OrderedValue.isNaN(own(f))
    val bounded = new BitSet(own.length)
    own.indices.foreach(f => if (own(f) != null && !isNaN(f)) bounded.set(f))
    def encoded(f: Int): Any = if (bounded.get(f)) OrderedValue.encode(dataType, own(f)) else null

    /** The count of rows if all are so; -1 if it is not known. */
    def counts(areAll: Int => Boolean): Array[Long] =
      Array.tabulate(own.length)(f => if (values(f) == null) -1L else if (areAll(f)) rows(f) else 0L)
    val nulls = counts(own(_) == null)
    encoding match {
      case Encoding.Longs =>
        val bounds = Array.tabulate(own.length)(encoded(_) match {
          case v: java.lang.Long => v.longValue; case _ => 0L
        })
        val nans = if (OrderedValue.hasNaN(dataType)) counts(isNaN(_)) else null
        new LongStatsColumn(bounds, bounds, bounded, nulls, nans)
      case _ =>
        val bounds = ByteStrings.of(Array.tabulate(own.length)(encoded(_) match {
          case v: Array[Byte] => v
          case _              => null
        }))
        new BytesStatsColumn(bounds, bounds, bounded, nulls)
    }
  }
}

/**
 * The defaults of columns in the schema of a reader. Of a column that a file lacks, Spark returns
 * the default that the column had when it was added, or null if it had none. So the reader's schema
 * decides whether such a file has only nulls.
 */
final class ColumnDefaults(schema: StructType) {
  import ColumnDefaults._

  private val withDefaults = schema.fields.filter(hasDefault).groupBy(f => inOneCase(f.name))

  def isEmpty: Boolean = withDefaults.isEmpty

  /** Whether the column, in any case, has a default, or a struct above it, or a field in it. */
  def concern(path: Seq[String]): Boolean = withDefaults.getOrElse(inOneCase(path.head), Array.empty).exists { f =>
    f.metadata.contains(Key) || ((f.dataType, path.tail) match {
      case (inner: StructType, rest) if rest.nonEmpty => new ColumnDefaults(inner).concern(rest)
      case _                                          => true
    })
  }
}

object ColumnDefaults {

  /** Spark's key in the metadata of a field. Catalogs have it in top-level fields only, users' schemas anywhere. */
  val Key = "EXISTS_DEFAULT"

  /** Gives equal results for names that `equalsIgnoreCase` calls equal. */
  private def inOneCase(name: String): String = name.map(c => Character.toLowerCase(Character.toUpperCase(c)))

  private def hasDefault(f: StructField): Boolean = f.metadata.contains(Key) || areIn(f.dataType)

  private def areIn(dt: DataType): Boolean = dt match {
    case s: StructType => s.exists(hasDefault)
    case a: ArrayType  => areIn(a.elementType)
    case m: MapType    => areIn(m.keyType) || areIn(m.valueType)
    case _             => false
  }
}

/**
 * Statistics for a reader whose schema has defaults. The table says 'all null' also for files that
 * lack the column, where the reader sees the default. So 'all null' is taken for unknown.
 */
final class StatsWithDefaults private (table: StatsTable, defaults: ColumnDefaults) extends StatsTable {

  override def files: Int = table.files
  override def rows: Array[Long] = table.rows
  override def allHaveRows: Boolean = table.allHaveRows

  override def column(path: Seq[String], dataType: DataType): Option[StatsColumn] = {
    val found = table.column(path, dataType)
    if (defaults.concern(path)) found.map(withoutAllNull) else found
  }

  override def members(path: Seq[String], dataType: DataType): Option[ColumnMembership] = table.members(path, dataType)

  private def withoutAllNull(column: StatsColumn): StatsColumn = {
    def unknown(counts: Array[Long]): Array[Long] =
      if (counts == null) null else Array.tabulate(counts.length)(i => if (isAllNull(column, i)) -1L else counts(i))
    val nulls = unknown(column.nullCounts)
    column match {
      case c: LongStatsColumn  => new LongStatsColumn(c.min, c.max, c.bounded, nulls, unknown(c.nanCounts))
      case c: BytesStatsColumn => new BytesStatsColumn(c.min, c.max, c.bounded, nulls)
    }
  }

  private def isAllNull(column: StatsColumn, file: Int): Boolean = column.nullCounts(file) == rows(file)
}

object StatsWithDefaults {

  /** Returns the table itself if the schema has no defaults. */
  def of(table: StatsTable, schema: StructType): StatsTable = {
    val defaults = new ColumnDefaults(schema)
    if (defaults.isEmpty) table else new StatsWithDefaults(table, defaults)
  }
}
