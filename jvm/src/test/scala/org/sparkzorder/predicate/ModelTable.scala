package org.sparkzorder.predicate

import java.util.BitSet

import org.apache.spark.sql.types.DataType

import org.sparkzorder.membership.{ColumnMembers, Membership, MembershipFormat}
import org.sparkzorder.stats._

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

  override def members(path: Seq[String], dataType: DataType): Option[ColumnMembers] = {
    val key = ColumnKey(path, dataType)
    Option.when(stats.exists(_.members.contains(key)))(new ColumnMembers {
      def isFilter(file: Int): Boolean = stats(file).members.get(key).exists(MembershipFormat.isFilter)
      def reader(wanted: BitSet): Int => Option[Membership] = stats(_).members.get(key).map(MembershipFormat.read)
    })
  }
}
