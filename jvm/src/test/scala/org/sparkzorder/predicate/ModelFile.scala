package org.sparkzorder.predicate

import java.util.BitSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import org.sparkzorder.membership.{ColumnMembership, Membership, MembershipFormat}
import org.sparkzorder.stats._

/** Rows in memory, with their exact statistics. */
final case class ModelFile(schema: StructType, rows: Seq[InternalRow]) {

  def exact: FileStats = FileStats(rows.size.toLong, columns(schema, Nil, rows.map(Option(_))).toMap)

  private def columns(
      struct: StructType,
      parents: Seq[String],
      of: Seq[Option[InternalRow]]
  ): Seq[(ColumnKey, ColumnStats)] = struct.fields.toSeq.zipWithIndex.flatMap { case (field, i) =>
    val path = parents :+ field.name
    val values = of.map(_.filterNot(_.isNullAt(i)).map(_.get(i, field.dataType)))
    val nested = (field.dataType: DataType) match {
      case s: StructType => columns(s, path, values.map(_.map(_.asInstanceOf[InternalRow])))
      case _             => Nil
    }
    (ColumnKey(path, field.dataType) -> ModelFile.stats(field.dataType, values)) +: nested
  }
}

object ModelFile {

  def stats(dataType: DataType, values: Seq[Option[Any]]): ColumnStats = {
    val nulls = values.count(_.isEmpty).toLong
    if (OrderedValue.encoding(dataType).isEmpty) ColumnStats(null, null, nulls, 0L)
    else {
      val (nans, others) = values.flatten.partition(isNaN)
      val sorted = others.map(OrderedValue.encode(dataType, _)).sorted(encoded)
      ColumnStats(sorted.headOption.orNull, sorted.lastOption.orNull, nulls, nans.size.toLong)
    }
  }

  val encoded: Ordering[Any] = (x: Any, y: Any) =>
    (x, y) match {
      case (a: Long, b: Long)               => a.compare(b)
      case (a: Array[Byte], b: Array[Byte]) => OrderedValue.compare(a, b)
      case _                                => throw new IllegalArgumentException(s"$x, $y")
    }

  private def isNaN(value: Any) = value match {
    case d: Double => d.isNaN
    case f: Float  => f.isNaN
    case _         => false
  }
}

/** The statistics of a table, made of those of each file. A column that no file has is missing. */
final class ModelTable(stats: Seq[FileStats]) extends StatsTable {
  val files: Int = stats.size
  val rows: Array[Long] = stats.map(_.rows).toArray

  def column(path: Seq[String], dataType: DataType): Option[StatsColumn] = {
    val key = ColumnKey(path, dataType)
    if (!stats.exists(_.columns.contains(key))) None
    else {
      val cells = stats.map(_.columns.getOrElse(key, ColumnStats.unknown))
      val bounded = new BitSet
      cells.zipWithIndex.foreach { case (c, i) => if (c.hasBounds) bounded.set(i) }
      val nulls = cells.map(_.nullCount).toArray
      OrderedValue.encoding(dataType) match {
        case Some(Encoding.Bytes) =>
          def bytes(f: ColumnStats => Any) = ByteStrings.of(cells.map(c => f(c).asInstanceOf[Array[Byte]]).toArray)
          Some(new BytesStatsColumn(bytes(_.min), bytes(_.max), bounded, nulls))
        case _ =>
          def longs(f: ColumnStats => Any) = cells.map(c => if (c.hasBounds) f(c).asInstanceOf[Long] else 77L).toArray
          val nans = if (OrderedValue.hasNaN(dataType)) cells.map(_.nanCount).toArray else null
          Some(new LongStatsColumn(longs(_.min), longs(_.max), bounded, nulls, nans))
      }
    }
  }

  override def members(path: Seq[String], dataType: DataType): Option[ColumnMembership] = {
    val key = ColumnKey(path, dataType)
    Option.when(stats.exists(_.members.contains(key)))(new ColumnMembership {
      def isFilter(file: Int): Boolean = stats(file).members.get(key).exists(MembershipFormat.isFilter)
      def reader(wanted: BitSet): Int => Option[Membership] = stats(_).members.get(key).map(MembershipFormat.read)
    })
  }
}
