package org.sparkzorder.stats

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.{DataType, StructType}

import org.sparkzorder.membership.MembershipBuilder

/**
 * Collects the statistics of one file's rows while they are written. Not thread-safe.
 *
 * @param schema of the rows
 * @param columns the columns to watch: fields of the schema or of its structs, by exact name and
 *   type. Of a type without order only the nulls are counted
 * @throws IllegalArgumentException for a column that is not in the schema under this path and type
 */
final class StatsCollector(schema: StructType, columns: IndexedColumns) {
  def this(schema: StructType, columns: Seq[ColumnKey]) = this(schema, IndexedColumns(columns))

  private val counters = mutable.LinkedHashMap.empty[ColumnKey, ColumnCounter]
  private val level =
    new StatsCollector.Level(schema, columns.keys.distinct.map(c => (c.path.toList, c)), columns, counters)
  private var rows = 0L

  def add(row: InternalRow): Unit = {
    rows += 1
    level.add(row)
  }

  def result(): FileStats = FileStats(
    rows,
    counters.iterator.map { case (key, c) => key -> c.result() }.toMap,
    counters.iterator.flatMap { case (key, c) => Option(c.members).flatMap(_.result()).map(key -> _) }.toMap
  )
}

private object StatsCollector {

  /** The watched fields of one struct, or of the row itself. */
  private final class Level(
      schema: StructType,
      watched: Seq[(List[String], ColumnKey)],
      columns: IndexedColumns,
      found: mutable.Map[ColumnKey, ColumnCounter]
  ) {

    private val ordinals = schema.fieldNames.zipWithIndex.reverseIterator.toMap

    private val own: Array[ColumnCounter] = watched.collect { case (name :: Nil, key) =>
      val i = ordinal(name, key)
      val dt: DataType = schema(i).dataType
      if (dt != key.dataType) {
        throw new IllegalArgumentException(
          s"column ${quoteNameParts(key.path)} is ${dt.catalogString} in the rows, not ${key.dataType.catalogString}"
        )
      }
      val counter = ColumnCounter(i, dt)
      for (kind <- columns.members.get(key); encoding <- OrderedValue.encoding(dt))
        counter.members = new MembershipBuilder(kind, areHashes = encoding == Encoding.Bytes, columns.mostBytes)
      found.put(key, counter)
      counter
    }.toArray

    private val structs: Array[Inner] = watched
      .collect { case (name :: (rest @ _ :: _), key) => (ordinal(name, key), (rest, key)) }
      .groupBy(_._1).toSeq.sortBy(_._1)
      .map { case (i, below) =>
        schema(i).dataType match {
          case struct: StructType => new Inner(i, struct.length, new Level(struct, below.map(_._2), columns, found))
          case other              =>
            val column = quoteNameParts(below.head._2._2.path)
            throw new IllegalArgumentException(s"column $column lies in a ${other.catalogString}")
        }
      }.toArray

    def add(row: InternalRow): Unit = {
      var i = 0
      while (i < own.length) {
        own(i).add(row)
        i += 1
      }
      i = 0
      while (i < structs.length) {
        structs(i).add(row)
        i += 1
      }
    }

    def addNull(): Unit = {
      own.foreach(_.addNull())
      structs.foreach(_.addNull())
    }

    private def ordinal(name: String, key: ColumnKey): Int = ordinals.getOrElse(
      name,
      throw new IllegalArgumentException(s"column ${quoteNameParts(key.path)} is not in ${schema.catalogString}")
    )
  }

  private final class Inner(ordinal: Int, fields: Int, level: Level) {
    def add(row: InternalRow): Unit =
      if (row.isNullAt(ordinal)) level.addNull() else level.add(row.getStruct(ordinal, fields))

    def addNull(): Unit = level.addNull()
  }
}

object IndexableColumns {

  /** Leaves, also those of structs, whose type has an order: in the schema's order, depth first. */
  def of(schema: StructType): Seq[ColumnKey] = all(schema).filter(c => OrderedValue.encoding(c.dataType).isDefined)

  /** Also arrays, maps, structs and leaves without order, of which only nulls are counted. */
  def all(schema: StructType): Seq[ColumnKey] = under(Vector.empty, schema)

  private def under(parents: Vector[String], struct: StructType): Seq[ColumnKey] = struct.fields.toVector.flatMap { f =>
    val key = ColumnKey(parents :+ f.name, f.dataType)
    (f.dataType: DataType) match {
      case inner: StructType => key +: under(parents :+ f.name, inner)
      case _                 => Vector(key)
    }
  }
}

object StatsMerge {

  /** From two disjoint parts. A column that is unknown in either part is unknown. */
  def merge(a: FileStats, b: FileStats): FileStats =
    if (a.rows == 0) b
    else if (b.rows == 0) a
    else {
      val columns = a.columns.flatMap { case (key, x) =>
        b.columns.get(key).map(y => key -> merge(x, a.rows, y, b.rows))
      }
      FileStats(a.rows + b.rows, columns)
    }

  private def merge(x: ColumnStats, xRows: Long, y: ColumnStats, yRows: Long): ColumnStats = {
    val (min, max) =
      if (x.hasBounds && y.hasBounds) (OrderedValue.order.min(x.min, y.min), OrderedValue.order.max(x.max, y.max))
      else if (hasNoValue(x, xRows)) (y.min, y.max)
      else if (hasNoValue(y, yRows)) (x.min, x.max)
      else (null, null)
    ColumnStats(min, max, sum(x.nullCount, y.nullCount), sum(x.nanCount, y.nanCount))
  }

  // Without bounds, nothing is known, or there is no value. Only then the part can be ignored.
  private def hasNoValue(c: ColumnStats, rows: Long): Boolean =
    !c.hasBounds && c.nullCount >= 0 && c.nanCount >= 0 && c.nullCount + c.nanCount == rows

  private def sum(a: Long, b: Long): Long = if (a < 0 || b < 0) -1L else a + b
}
