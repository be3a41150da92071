package org.sparkzorder.stats

import org.apache.spark.sql.types._

/**
 * Defaults in the schema that reads. Of a column that a file lacks, Spark returns the default that the column had when it
 * was added, and null only without one. So whether a file has nothing but nulls is up to the schema that reads it.
 */
final class ColumnDefaults(schema: StructType) {
  import ColumnDefaults._

  private val withDefaults = schema.fields.filter(hasDefault).groupBy(f => inOneCase(f.name))

  def isEmpty: Boolean = withDefaults.isEmpty

  /** Whether there is a default for the column, whatever its case, for a struct that holds it, or for a field in it. */
  def concern(path: Seq[String]): Boolean = withDefaults.getOrElse(inOneCase(path.head), Array.empty).exists { f =>
    f.metadata.contains(Key) || ((f.dataType, path.tail) match {
      case (inner: StructType, rest) if rest.nonEmpty => new ColumnDefaults(inner).concern(rest)
      case _                                          => true
    })
  }
}

object ColumnDefaults {

  /** Spark's key in the metadata of a field. Schemas of catalogs have it at the top level, those of users anywhere. */
  val Key = "EXISTS_DEFAULT"

  /** Equal for names that `equalsIgnoreCase` calls equal. */
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
 * Statistics as a schema with defaults reads the files. The table says 'all null' of a file whose column is null in every
 * row, and of a file that lacks the column. Where the schema has a default, the second kind is full of defaults, so
 * nothing is known of either.
 */
final class StatsWithDefaults private (table: StatsTable, defaults: ColumnDefaults) extends StatsTable {

  override def files: Int = table.files
  override def rows: Array[Long] = table.rows
  override def allHaveRows: Boolean = table.allHaveRows

  override def column(path: Seq[String], dataType: DataType): Option[StatsColumn] = {
    val found = table.column(path, dataType)
    if (defaults.concern(path)) found.map(withoutAllNull) else found
  }

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

  /** The table itself where the schema has no default. */
  def of(table: StatsTable, schema: StructType): StatsTable = {
    val defaults = new ColumnDefaults(schema)
    if (defaults.isEmpty) table else new StatsWithDefaults(table, defaults)
  }
}
