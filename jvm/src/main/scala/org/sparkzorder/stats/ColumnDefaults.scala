package org.sparkzorder.stats

import org.apache.spark.sql.types._

import org.sparkzorder.membership.ColumnMembers

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

  override def members(path: Seq[String], dataType: DataType): Option[ColumnMembers] = table.members(path, dataType)

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
