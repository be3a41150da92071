package org.sparkzorder.index

import java.lang.{Long => JLong}
import java.util.{Arrays, BitSet}

import org.apache.spark.sql.types.DataType

import org.sparkzorder.stats._

/** A column of an index, and the files that have statistics of it. The others have neither bounds nor counts. */
private[index] final class ColumnData(val present: BitSet, val stats: StatsColumn) {

  def of(i: Int): Option[ColumnStats] = if (!present.get(i)) None
  else {
    val (min, max) = if (!stats.bounded.get(i)) (null, null)
    else stats match {
      case c: LongStatsColumn  => (JLong.valueOf(c.min(i)), JLong.valueOf(c.max(i)))
      case c: BytesStatsColumn => (c.min(i), c.max(i))
    }
    Some(ColumnStats(min, max, stats.nullCounts(i), if (stats.nanCounts == null) 0L else stats.nanCounts(i)))
  }

  def memoryBytes: Long = {
    val n = stats.nullCounts.length
    val ownNaNs = stats.nanCounts != null && !(stats.nanCounts eq stats.nullCounts)
    val common = n / 4L + 8L * n + (if (ownNaNs) 8L * n else 0L)
    stats match {
      case _: LongStatsColumn  => common + 16L * n
      case c: BytesStatsColumn => common + c.min.memoryBytes + c.max.memoryBytes
    }
  }
}

/** Makes a column, file by file. Unknown is what makes no sense: a minimum above the maximum, more nulls than rows. */
private[index] final class ColumnBuilder(dt: DataType, files: Int) {
  private val kind = OrderedValue.encoding(dt)
  private val present = new BitSet(files)
  private val bounded = new BitSet(files)
  private val nulls = Array.fill(files)(-1L)
  private val nans = if (OrderedValue.hasNaN(dt)) Array.fill(files)(-1L) else null
  private val min = if (kind.contains(Encoding.Longs)) new Array[Long](files) else null
  private val max = if (longs) new Array[Long](files) else null
  private val low = if (longs) null else new Array[Array[Byte]](files)
  private val high = if (longs) null else new Array[Array[Byte]](files)

  private def longs: Boolean = min != null

  def put(i: Int, rows: Long, stats: ColumnStats): Unit = {
    present.set(i)
    nulls(i) = count(stats.nullCount, rows)
    if (nans != null) nans(i) = count(stats.nanCount, rows)
    (stats.min, stats.max) match {
      case (a: JLong, b: JLong) if longs =>
        if (a <= b) {
          min(i) = a
          max(i) = b
          bounded.set(i)
        }
      case (a: Array[Byte], b: Array[Byte]) if kind.contains(Encoding.Bytes) =>
        val upper = ByteBounds.upper(b)
        if (upper != null && OrderedValue.compare(a, b) <= 0) {
          low(i) = ByteBounds.lower(a)
          high(i) = if (Arrays.equals(low(i), upper)) low(i) else upper
          bounded.set(i)
        }
      case (a, b) if a == null || b == null =>
      case (a, _) => throw new IllegalArgumentException(s"a bound of ${dt.catalogString} is a ${a.getClass.getName}")
    }
  }

  /** Copies the statistics of file `from` of another column of the same type to file i. */
  def copy(i: Int, column: ColumnData, from: Int): Unit = if (column.present.get(from)) {
    val stats = column.stats
    present.set(i)
    nulls(i) = stats.nullCounts(from)
    if (nans != null) nans(i) = stats.nanCounts(from)
    if (stats.bounded.get(from)) {
      bounded.set(i)
      stats match {
        case c: LongStatsColumn =>
          min(i) = c.min(from)
          max(i) = c.max(from)
        case c: BytesStatsColumn =>
          low(i) = c.min(from)
          high(i) = c.max(from)
      }
    }
  }

  private def count(n: Long, rows: Long): Long = if (n < 0 || n > rows) -1L else n

  def result(): ColumnData = new ColumnData(
    present,
    if (longs) new LongStatsColumn(min, max, bounded, nulls, nans)
    else new BytesStatsColumn(ByteStrings.of(low), ByteStrings.of(high), bounded, nulls)
  )
}
