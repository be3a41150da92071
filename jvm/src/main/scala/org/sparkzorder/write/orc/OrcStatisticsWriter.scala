package org.sparkzorder.write.orc

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.orc.{OrcConf, OrcFile, OrcProto, OrcUtils, TypeDescription}
import org.apache.orc.TypeDescription.Category
import org.apache.orc.impl.{PhysicalFsWriter, StreamName}

/**
 * Writes an ORC file whose statistics let each reader find all rows.
 *
 *   - A field of a struct counts as null where the struct is null. ORC's Java library leaves such rows out of the
 *     field's statistics. They then say that the field is never null, and readers skip the row groups that `s.f IS
 *     NULL` would find. ORC's C++ library counts these rows. ORC hands on the statistics of a struct before those of
 *     its fields, so each column can take over the nulls of its parent.
 *   - A bound that is zero holds for both zeros. ORC's reader compares by bits, so to it 0.0 is above a maximum of
 *     -0.0, and it skips the row group that `x = 0.0` would find.
 *   - Bounds of strings hold in both orders that ORC uses, see [[OrcTextBounds]].
 *   - Bounds of dates and times before 1582-10-15 hold in two calendars, see [[OrcOldBounds]].
 *
 * The statistics of the whole file stay, since no reader skips by them, and some answer `min` and `max` by them.
 */
private[write] final class OrcStatisticsWriter(fs: FileSystem, path: Path, options: OrcFile.WriterOptions)
    extends PhysicalFsWriter(fs, path, options) {

  private val parents = OrcStatisticsWriter.parents(options.getSchema)

  /** For each column, whether each row group of this stripe has nulls. */
  private val groups = Array.fill(parents.length)(Array.empty[Boolean])
  private val stripe = new Array[Boolean](parents.length)
  private val file = new Array[Boolean](parents.length)

  override def writeIndex(name: StreamName, index: OrcProto.RowIndex.Builder): Unit = {
    val column = name.getColumn
    groups(column) = Array.tabulate(index.getEntryCount) { g =>
      val statistics = index.getEntryBuilder(g).getStatisticsBuilder
      widen(statistics)
      mark(column, statistics)(groups(_)(g))
    }
    super.writeIndex(name, index)
  }

  override def writeStatistics(name: StreamName, statistics: OrcProto.ColumnStatistics.Builder): Unit = {
    val isFile = name.getKind == OrcProto.Stream.Kind.FILE_STATISTICS
    val nulls = if (isFile) file else stripe
    if (!isFile) widen(statistics)
    nulls(name.getColumn) = mark(name.getColumn, statistics)(nulls(_))
    super.writeStatistics(name, statistics)
  }

  private def widen(statistics: OrcProto.ColumnStatistics.Builder): Unit = {
    if (statistics.hasDoubleStatistics) {
      val bounds = statistics.getDoubleStatisticsBuilder
      // Both zeros are equal to the operator.
      if (bounds.hasMinimum && bounds.getMinimum == 0.0) bounds.setMinimum(-0.0)
      if (bounds.hasMaximum && bounds.getMaximum == 0.0) bounds.setMaximum(0.0)
    }
    if (statistics.hasStringStatistics) OrcTextBounds.widen(statistics.getStringStatisticsBuilder)
    if (statistics.hasDateStatistics) OrcOldBounds.widen(statistics.getDateStatisticsBuilder)
    if (statistics.hasTimestampStatistics) OrcOldBounds.widen(statistics.getTimestampStatisticsBuilder)
  }

  /** Whether the column has nulls, by its own statistics or by those of its parent. */
  private def mark(column: Int, statistics: OrcProto.ColumnStatistics.Builder)(hasNull: Int => Boolean): Boolean = {
    val inherited = parents(column) >= 0 && hasNull(parents(column))
    if (inherited) statistics.setHasNull(true)
    inherited || statistics.getHasNull
  }
}

private[write] object OrcStatisticsWriter {

  /** Whether a struct that may be null has fields: the row itself never is. */
  def hasStructs(schema: TypeDescription): Boolean = parents(schema).exists(_ >= 0)

  /** Whether ORC's own statistics may be wrong for a reader. */
  def concern(schema: TypeDescription): Boolean = hasStructs(schema) || OrcFloats.has(schema, Bounded)

  private val Bounded = Set(Category.FLOAT, Category.DOUBLE, Category.STRING, Category.CHAR, Category.VARCHAR) ++
    Set(Category.DATE, Category.TIMESTAMP, Category.TIMESTAMP_INSTANT)

  /** For each column the struct that it is a field of, or -1. */
  private def parents(schema: TypeDescription): Array[Int] = {
    val found = Array.fill(schema.getMaximumId + 1)(-1)
    def visit(t: TypeDescription): Unit = Option(t.getChildren).toSeq.flatMap(_.asScala).foreach { child =>
      if (t.getCategory == Category.STRUCT && t.getId != schema.getId) found(child.getId) = t.getId
      visit(child)
    }
    visit(schema)
    found
  }
}

/**
 * Bounds of strings that hold in two orders.
 *
 * ORC's writer finds the least and the greatest string by the bytes of UTF-8. Its reader compares them with a literal
 * as Java does, by the units of UTF-16. A character above U+FFFF has units from U+D800 to U+DFFF there, and comes
 * before those from U+E000 to U+FFFF. So with a maximum of U+1F600, the reader skips the row group that `x = U+FFEE`
 * would find. Both orders agree on characters below U+D800.
 */
private[write] object OrcTextBounds {

  /**
   * Makes bounds wider that may not hold in both orders. A minimum stays a minimum, since old readers take a row group
   * without one for empty.
   */
  def widen(statistics: OrcProto.StringStatistics.Builder): Unit = {
    if (statistics.hasMinimum) statistics.setMinimum(low(statistics.getMinimum))
    if (statistics.hasLowerBound) statistics.setLowerBound(low(statistics.getLowerBound))
    if (statistics.hasMaximum) high(statistics.getMaximum) match {
      case Some(bound) => statistics.setMaximum(bound)
      case None        => statistics.clearMaximum().setUpperBound(HighestUtf16)
    }
    if (statistics.hasUpperBound) statistics.setUpperBound(high(statistics.getUpperBound).getOrElse(HighestUtf16))
  }

  /** A string that is not above any string from `min` on, in either order: its part that both orders treat alike. */
  def low(min: String): String = cut(min, _ > Character.MAX_SURROGATE)

  /** A string that is not below any string up to `max`, in either order; None if there is none. */
  def high(max: String): Option[String] = {
    val before = cut(max, Character.isSurrogate(_))
    if (before.length == max.length) Some(max)
    else {
      val at = before.lastIndexWhere(_ < '\ud7ff')
      if (at < 0) None else Some(before.substring(0, at) + (before(at) + 1).toChar)
    }
  }

  private def cut(s: String, at: Char => Boolean): String = s.indexWhere(at) match {
    case -1 => s
    case i  => s.substring(0, i)
  }

  /** U+FFFF is no character, and no text has it so often. Readers by bytes do not use ORC's upper bounds. */
  val HighestUtf16: String = "\uffff" * 64
}

/**
 * Bounds of dates and times before 1582-10-15 that hold in the Gregorian and in the Julian calendar.
 *
 * Spark hands a literal to ORC as `java.sql.Date` or `java.sql.Timestamp`, whose calendar is Julian before that day. So
 * ORC compares another day than the file has, and skips the row group with the rows.
 */
private[write] object OrcOldBounds {
  private val DayMillis = 86400000L
  private val Gregorian = -141427L

  /** Days between the calendars: 12 at most from year 1 on, and 0.8 more in each century before. */
  private def apart(day: Long): Long = 12 + math.abs(day) / 40000

  def low(day: Long): Long = if (day < Gregorian) day - apart(day) else day

  def high(day: Long): Long = if (day < Gregorian + 12) day + apart(day) else day

  private def lowMillis(millis: Long): Long = millis + (low(day(millis)) - day(millis)) * DayMillis
  private def highMillis(millis: Long): Long = millis + (high(day(millis)) - day(millis)) * DayMillis
  private def day(millis: Long): Long = Math.floorDiv(millis, DayMillis)

  def widen(bounds: OrcProto.DateStatistics.Builder): Unit = {
    if (bounds.hasMinimum) bounds.setMinimum(math.max(Int.MinValue, low(bounds.getMinimum.toLong)).toInt)
    if (bounds.hasMaximum) bounds.setMaximum(high(bounds.getMaximum.toLong).toInt)
  }

  def widen(bounds: OrcProto.TimestampStatistics.Builder): Unit = {
    if (bounds.hasMinimum) bounds.setMinimum(lowMillis(bounds.getMinimum))
    if (bounds.hasMinimumUtc) bounds.setMinimumUtc(lowMillis(bounds.getMinimumUtc))
    if (bounds.hasMaximum) bounds.setMaximum(highMillis(bounds.getMaximum))
    if (bounds.hasMaximumUtc) bounds.setMaximumUtc(highMillis(bounds.getMaximumUtc))
  }
}

/**
 * Keeps readers from losing FLOAT and DOUBLE values of ORC files. In SQL -0.0 equals 0.0, but their bits differ, and
 * ORC's reader looks for the bits of one of them. So these columns get no Bloom filter, whatever the table and the
 * session say. The bounds of row groups hold for both, see [[OrcStatisticsWriter]].
 */
private[sparkzorder] object OrcFloats {

  /**
   * @param conf of a writer of ORC that Spark has prepared
   * @param schema of the file; None for Spark's own
   */
  def turnOffFilters(conf: Configuration, schema: Option[TypeDescription]): Unit = {
    val written = schema.getOrElse(TypeDescription.fromString(OrcConf.MAPRED_OUTPUT_SCHEMA.getString(conf)))
    val names = Option(conf.get(Filters)).toSeq.flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)
    // A name may stand for several columns: of a struct, or of the whole table.
    val left = names.filterNot { name =>
      val columns = OrcUtils.includeColumns(name, written)
      columns.indices.exists(id => columns(id) && Floats(written.findSubtype(id).getCategory))
    }
    if (left.isEmpty) conf.unset(Filters) else conf.set(Filters, left.mkString(","))
  }

  def areIn(t: TypeDescription): Boolean = has(t, Floats)

  /** Whether a type, or one inside of it, is in one of these categories. */
  def has(t: TypeDescription, some: Category => Boolean): Boolean =
    some(t.getCategory) || Option(t.getChildren).exists(_.asScala.exists(has(_, some)))

  private val Filters = OrcConf.BLOOM_FILTER_COLUMNS.getAttribute
  private val Floats = Set(Category.FLOAT, Category.DOUBLE)
}
