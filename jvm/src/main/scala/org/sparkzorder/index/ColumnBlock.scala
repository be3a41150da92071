package org.sparkzorder.index

import java.util.{Arrays, BitSet}

import org.apache.spark.sql.types.{DataType, DecimalType}

import org.sparkzorder.stats._

/**
 * A column as bytes:
 *  - one bit for each file: whether it has the column;
 *  - one bit for each file: whether it has bounds;
 *  - null counts, and for float and double NaN counts;
 *  - bounds as longs: all minima, then all maxima, each less the minimum of the same file;
 *  - or bounds as bytes: the lengths of all minima and of all maxima, a byte each (0 without
 *    bounds), then the bytes of all minima and of all maxima.
 *
 * A column of a type without order has no bounds.
 */
private[index] object ColumnBlock {

  /**
   * The name, in the footer, of the way in which the column is stored. If the footer names another
   * way than this Spark would use for the type, the column was made by rules that this release does
   * not know.
   */
  def kind(dt: DataType): String = OrderedValue.encoding(dt) match {
    case Some(Encoding.Longs) if OrderedValue.hasNaN(dt) => "doubles"
    case Some(Encoding.Longs)                            => "longs"
    case Some(Encoding.Bytes)                            => "bytes"
    case None                                            => "nulls"
  }

  /** The bytes before compression, without those of byte strings. */
  private def fixedSize(dt: DataType, n: Int): Long = 2L * RawBytes.bitsSize(n) + (kind(dt) match {
    case "doubles" => 32L * n
    case "longs"   => 24L * n
    case "bytes"   => 10L * n
    case _         => 8L * n
  })

  def write(dt: DataType, data: ColumnData): Array[Byte] = {
    val stats = data.stats
    val n = stats.nullCounts.length
    val bounded = stats.bounded
    val out = new RawWriter(fixedSize(dt, n) + sizeOfStrings(stats))
    out.bits(data.present, n)
    out.bits(bounded, n)
    out.longs(stats.nullCounts, _ => 0L)
    if (stats.nanCounts != null) out.longs(stats.nanCounts, _ => 0L)
    stats match {
      case c: LongStatsColumn =>
        out.longs(c.min, i => if (i == 0) 0L else c.min(i - 1))
        out.longs(c.max, i => c.min(i))
      case c: BytesStatsColumn =>
        if (OrderedValue.encoding(dt).isDefined) {
          Seq(c.min, c.max).foreach(v => (0 until n).foreach(i => out.byte(if (bounded.get(i)) v.length(i) else 0)))
        }
        Seq(c.min, c.max).foreach(v => foreach(bounded)(i => out.raw(v(i))))
    }
    out.bytes
  }

  private def sizeOfStrings(stats: StatsColumn): Long = stats match {
    case c: BytesStatsColumn =>
      var sum = 0L
      foreach(c.bounded)(i => sum += c.min.length(i) + c.max.length(i))
      sum
    case _ => 0L
  }

  /**
   * @throws IndexFormatException unless [[write]] could have made these bytes for files of so many
   *   rows
   */
  def read(dt: DataType, rows: Array[Long], raw: Array[Byte]): ColumnData = {
    if (fixedSize(dt, rows.length) > raw.length) {
      throw new IndexFormatException("a column is too short for so many files")
    }
    val in = new RawReader(raw)
    val counts = readCounts(in, dt, rows)
    val stats = OrderedValue.encoding(dt) match {
      case Some(Encoding.Longs) => readLongs(in, dt, counts)
      case Some(Encoding.Bytes) => readStrings(in, dt, counts)
      case None                 => withoutBounds(counts)
    }
    in.end()
    new ColumnData(counts.present, stats)
  }

  /** The first part of a column, which does not depend on its encoding. */
  private final case class Counts(present: BitSet, bounded: BitSet, nulls: Array[Long], nans: Array[Long]) {
    def files: Int = nulls.length
  }

  private def readCounts(in: RawReader, dt: DataType, rows: Array[Long]): Counts = {
    val present = in.bits(rows.length)
    val bounded = in.bits(rows.length)
    val nulls = readCount(in, rows)
    val nans =
      if (!OrderedValue.hasNaN(dt)) null
      else {
        val counted = readCount(in, rows)
        // Most columns have neither null nor NaN: then one array of zeros is enough.
        if (Arrays.equals(counted, nulls)) nulls else counted
      }
    Counts(present, bounded, nulls, nans)
  }

  private def readLongs(in: RawReader, dt: DataType, counts: Counts): LongStatsColumn = {
    val min = in.runningLongs(counts.files)
    val max = in.longsAbove(min)
    val least = OrderedValue.least(dt)
    val most = OrderedValue.most(dt)
    foreach(counts.bounded) { i =>
      if (min(i) > max(i)) throw crossed()
      if (min(i) < least || max(i) > most) throw new IndexFormatException("a bound that its type does not have")
    }
    new LongStatsColumn(min, max, counts.bounded, counts.nulls, counts.nans)
  }

  private def readStrings(in: RawReader, dt: DataType, counts: Counts): BytesStatsColumn = {
    val minSizes = in.raw(counts.files)
    val maxSizes = in.raw(counts.files)
    if (dt.isInstanceOf[DecimalType]) {
      foreach(counts.bounded) { i =>
        if (minSizes(i) != 16 || maxSizes(i) != 16) throw new IndexFormatException("a decimal not of 16 bytes")
      }
    }
    val min = strings(in, counts.bounded, minSizes)
    val max = strings(in, counts.bounded, maxSizes)
    foreach(counts.bounded)(i => if (min.compare(i, max) > 0) throw crossed())
    new BytesStatsColumn(min, max, counts.bounded, counts.nulls)
  }

  private def withoutBounds(counts: Counts): BytesStatsColumn = {
    if (!counts.bounded.isEmpty) throw new IndexFormatException("bounds of a type without order")
    val none = ByteStrings.empty(counts.files)
    new BytesStatsColumn(none, none, counts.bounded, counts.nulls)
  }

  private def crossed() = new IndexFormatException("a minimum above its maximum")

  private def readCount(in: RawReader, rows: Array[Long]): Array[Long] = {
    val counts = in.longs(rows.length)
    var i = 0
    while (i < counts.length) {
      if (counts(i) < -1 || counts(i) > rows(i)) throw new IndexFormatException("more nulls than rows")
      i += 1
    }
    counts
  }

  private def strings(in: RawReader, bounded: BitSet, sizes: Array[Byte]): ByteStrings = {
    val starts = new Array[Int](sizes.length + 1)
    var i = 0
    while (i < sizes.length) {
      starts(i + 1) = starts(i) + (if (bounded.get(i)) sizes(i) & 0xff else 0)
      if (starts(i + 1) < 0) throw new IndexFormatException("bounds longer than an array can be")
      i += 1
    }
    new ByteStrings(in.raw(starts(sizes.length)), starts)
  }

  private def foreach(bits: BitSet)(f: Int => Unit): Unit = {
    var i = bits.nextSetBit(0)
    while (i >= 0) {
      f(i)
      i = bits.nextSetBit(i + 1)
    }
  }
}
