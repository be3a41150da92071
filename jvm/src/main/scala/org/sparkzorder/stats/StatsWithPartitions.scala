package org.sparkzorder.stats

import java.util.BitSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, DecimalType, StructType}

import org.sparkzorder.membership.ColumnMembers

/**
 * Statistics of files, and of the partition columns of a listing: each is one value in all rows of a file.
 *
 * @param schema of the partitions' values
 * @param values of each file's partition; null where they are not known
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

  override def members(path: Seq[String], dataType: DataType): Option[ColumnMembers] =
    if (isOfFiles(path)) table.members(path, dataType) else None

  private def isOfFiles(path: Seq[String]) = path.size > 1 || !schema.fieldNames.contains(path.head)

  /** Spark leaves a decimal of a folder's name with the digits that it has there, whatever its type. */
  private def hasOneForm(dataType: DataType): Boolean = !dataType.isInstanceOf[DecimalType]

  private def ofPartitions(i: Int, dataType: DataType, encoding: Encoding): StatsColumn = {
    val own: Array[Any] = values.map(row => if (row == null || row.isNullAt(i)) null else row.get(i, dataType): Any)
    def isNaN(f: Int): Boolean = own(f) match {
      case v: Double => v.isNaN
      case v: Float  => v.isNaN
      case _         => false
    }
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
