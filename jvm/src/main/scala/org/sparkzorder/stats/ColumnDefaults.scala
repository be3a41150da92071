package org.sparkzorder.stats

import org.apache.spark.sql.types._

/**
 * Defaults in the schema that reads. Of a column that a file lacks, Spark returns the default that the column had when it
 * was added, and null only without one. So whether a file has nothing but nulls is up to the schema that reads it.
 */
object ColumnDefaults {

  /** Spark's key in the metadata of a field. Schemas of catalogs have it at the top level, those of users anywhere. */
  val Key = "EXISTS_DEFAULT"

  /** Whether there is a default for the column, whatever its case, for a struct that holds it, or for a field in it. */
  def concern(schema: StructType, path: Seq[String]): Boolean =
    schema.fields.filter(_.name.equalsIgnoreCase(path.head)).exists { f =>
      f.metadata.contains(Key) || ((f.dataType, path.tail) match {
        case (inner: StructType, rest) if rest.nonEmpty => concern(inner, rest)
        case (other, _)                                 => areIn(other)
      })
    }

  private def areIn(dt: DataType): Boolean = dt match {
    case s: StructType => s.exists(f => f.metadata.contains(Key) || areIn(f.dataType))
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
final class StatsWithDefaults(table: StatsTable, schema: StructType) extends StatsTable {

  override def files: Int = table.files
  override def rows: Array[Long] = table.rows
  override def allHaveRows: Boolean = table.allHaveRows

  override def column(path: Seq[String], dataType: DataType): Option[StatsColumn] = {
    val found = table.column(path, dataType)
    if (ColumnDefaults.concern(schema, path)) found.map(withoutAllNull) else found
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
  def of(table: StatsTable, schema: StructType): StatsTable =
    if (schema.fieldNames.exists(name => ColumnDefaults.concern(schema, Seq(name))))
      new StatsWithDefaults(table, schema)
    else table
}
