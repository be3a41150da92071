package org.sparkzorder.footer.orc

import scala.annotation.nowarn

import org.apache.orc.{BooleanColumnStatistics, ColumnStatistics, DateColumnStatistics, IntegerColumnStatistics}
import org.apache.orc.{OrcFile, OrcProto, Reader, StringColumnStatistics, TypeDescription}
import org.apache.orc.TypeDescription.Category
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.execution.datasources.orc.OrcUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.footer.{Belief, Calendar, StatisticsTrust, WritersTable}
import org.sparkzorder.stats.{ColumnKey, ColumnStats, OrderedValue}

/** Judges the file-level statistics of an open ORC file, column by column. */
private[footer] final class OrcStatistics(reader: Reader) {

  private val rows = reader.getNumberOfRows
  private val api: Array[ColumnStatistics] = reader.getStatistics

  // Only the stored form distinguishes a count of zero from a missing count.
  @nowarn("cat=deprecation")
  private val proto = reader.getOrcProtoFileStatistics

  // The root's count must be the number of rows. A writer without statistics leaves all counts at
  // zero, which would read as 'all null'.
  private val kept = api != null && api.length > 0 && proto.size == api.length &&
    proto.get(0).hasNumberOfValues && proto.get(0).getNumberOfValues == rows

  // ORC Java's `mergeFiles` keeps stripes and statistics of other writers, and the version of their format.
  private val isJoined =
    reader.getSoftwareVersion.startsWith("ORC Java") && reader.getWriterVersion != OrcFile.WriterVersion.ORC_14
  private val belief = if (isJoined) Belief() else WritersTable.ofOrc(reader.getSoftwareVersion)

  def judge(key: ColumnKey, leaf: TypeDescription): StatisticsTrust = nullCount(leaf) match {
    case None                         => StatisticsTrust.Untrusted
    case Some(nulls) if nulls == rows => StatisticsTrust.Trusted(ColumnStats(null, null, nulls, 0L))
    case Some(_) if OrderedValue.encoding(key.dataType).isEmpty => nulls(key.dataType, leaf)
    case Some(nulls)                                            =>
      bounds(key.dataType, leaf, api(leaf.getId), proto.get(leaf.getId)) match {
        case Some((min, max)) =>
          val (lo, hi) = (OrderedValue.encode(key.dataType, min), OrderedValue.encode(key.dataType, max))
          if (OrderedValue.order.compare(lo, hi) > 0) StatisticsTrust.Untrusted
          else if (key.dataType == DateType && !Calendar.settled(DateType, lo.asInstanceOf[Long]))
            StatisticsTrust.Untrusted
          else StatisticsTrust.Trusted(ColumnStats.of(lo, hi, nulls))
        case None => StatisticsTrust.Untrusted
      }
  }

  /** The null count. A value may become null that is read as another type, so the stored type must be the column's. */
  def nulls(dt: DataType, leaf: TypeDescription): StatisticsTrust = nullCount(leaf) match {
    case Some(nulls) if nulls == rows || isStoredAs(dt, leaf) =>
      StatisticsTrust.Trusted(ColumnStats(null, null, nulls, 0L))
    case _ => StatisticsTrust.Unknown
  }

  private def isStoredAs(dt: DataType, leaf: TypeDescription): Boolean = (dt, leaf.getCategory) match {
    case (TimestampType, Category.TIMESTAMP | Category.TIMESTAMP_INSTANT)    => true
    case (_: StringType, Category.STRING | Category.VARCHAR | Category.CHAR) => true
    case _                                                                   => false
  }

  private def nullCount(leaf: TypeDescription): Option[Long] = {
    val id = leaf.getId
    if (rows == 0) Some(0L)
    else if (!kept || id >= api.length || !proto.get(id).hasNumberOfValues || !counts(leaf)) None
    else Some(rows - proto.get(id).getNumberOfValues).filter(n => n >= 0 && (n < rows || !hasBounds(proto.get(id))))
  }

  /** A null struct makes its fields null, too. Writers in C++ count as their caller says. */
  private def counts(leaf: TypeDescription): Boolean =
    if (leaf.getParent == null || leaf.getParent.getId == 0) belief.nulls else belief.nullsOfFields

  private def hasBounds(s: OrcProto.ColumnStatistics): Boolean = s.getIntStatistics.hasMinimum ||
    s.getStringStatistics.hasMinimum || s.getDateStatistics.hasMinimum || s.getDoubleStatistics.hasMinimum ||
    s.getDecimalStatistics.hasMinimum || s.getTimestampStatistics.hasMinimum

  private def bounds(
      dt: DataType,
      leaf: TypeDescription,
      s: ColumnStatistics,
      p: OrcProto.ColumnStatistics
  ): Option[(Any, Any)] =
    (leaf.getCategory, s) match {
      case (Category.BOOLEAN, b: BooleanColumnStatistics)
          if dt == BooleanType && p.hasBucketStatistics && belief.booleans =>
        Some((b.getFalseCount == 0, b.getTrueCount > 0))
      case (Category.BYTE | Category.SHORT | Category.INT | Category.LONG, i: IntegerColumnStatistics)
          if belief.bounds && p.hasIntStatistics && p.getIntStatistics.hasMinimum && p.getIntStatistics.hasMaximum =>
        for (min <- integer(dt, leaf, i.getMinimum); max <- integer(dt, leaf, i.getMaximum)) yield (min, max)
      case (Category.DATE, d: DateColumnStatistics)
          if belief.bounds && dt == DateType && p.hasDateStatistics && p.getDateStatistics.hasMinimum && p.getDateStatistics.hasMaximum =>
        Some((d.getMinimumDayOfEpoch.toInt, d.getMaximumDayOfEpoch.toInt))
      case (Category.STRING, t: StringColumnStatistics) if dt.isInstanceOf[StringType] && belief.bounds =>
        for (min <- text(t.getMinimum); max <- text(t.getMaximum)) yield (min, max)
      case _ => None
    }

  private def integer(dt: DataType, leaf: TypeDescription, v: Long): Option[Any] = {
    val tagged =
      Option(leaf.getAttributeValue(OrcUtils.CATALYST_TYPE_ATTRIBUTE_NAME)).map(CatalystSqlParser.parseDataType)
    dt match {
      case ByteType if tagged.isEmpty && leaf.getCategory == Category.BYTE                     => Some(v.toByte)
      case ShortType if tagged.isEmpty && narrowerThan(leaf, Category.SHORT)                   => Some(v.toShort)
      case IntegerType if tagged.isEmpty && narrowerThan(leaf, Category.INT)                   => Some(v.toInt)
      case LongType if tagged.isEmpty                                                          => Some(v)
      case _: YearMonthIntervalType if tagged.contains(dt) && leaf.getCategory == Category.INT => Some(v.toInt)
      case TimestampNTZType | _: DayTimeIntervalType if tagged.contains(dt) && leaf.getCategory == Category.LONG =>
        Some(v)
      case _ => None
    }
  }

  private def narrowerThan(leaf: TypeDescription, most: Category): Boolean = {
    val widths = Seq(Category.BYTE, Category.SHORT, Category.INT, Category.LONG)
    widths.indexOf(leaf.getCategory) <= widths.indexOf(most)
  }

  // The bound is null when the writer has cut it. A replacement character stands for a byte that
  // was not UTF-8; then the order of the bound is unknown.
  private def text(bound: String): Option[UTF8String] =
    Option(bound).filter(_.indexOf('\uFFFD') < 0).map(UTF8String.fromString)
}
