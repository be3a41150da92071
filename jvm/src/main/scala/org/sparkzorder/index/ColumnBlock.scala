package org.sparkzorder.index

import java.util.{Arrays, BitSet}

import org.apache.spark.sql.types.{DataType, DecimalType}

import org.sparkzorder.stats._

/**
 * A column as bytes: bits of the files that have it, bits of those with bounds, null counts, NaN counts for float and
 * double, then the bounds. Longs: all minima, all maxima less the minimum of the same file. Bytes: a byte of length for
 * each minimum, each maximum (0 without bounds), then their bytes one after the other. A type without order has no
 * bounds.
 */
private[index] object ColumnBlock {

  /**
   * How the column is held, by name in the footer: a file of another kind than we would make was made by rules we do
   * not know.
   */
  def kind(dt: DataType): String = OrderedValue.encoding(dt) match {
    case Some(Encoding.Longs) if OrderedValue.hasNaN(dt) => "doubles"
    case Some(Encoding.Longs)                            => "longs"
    case Some(Encoding.Bytes)                            => "bytes"
    case None                                            => "nulls"
  }

  /** Bytes before compression that come whatever the values are. */
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
    val variable = stats match {
      case c: BytesStatsColumn =>
        var sum = 0L
        foreach(bounded)(i => sum += c.min.length(i) + c.max.length(i))
        sum
      case _ => 0L
    }
    val out = new RawWriter(fixedSize(dt, n) + variable)
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

  /** @throws IndexFormatException unless these are bytes that [[write]] could have made for files of these rows */
  def read(dt: DataType, rows: Array[Long], raw: Array[Byte]): ColumnData = {
    val n = rows.length
    if (fixedSize(dt, n) > raw.length) throw new IndexFormatException("a column is too short for so many files")
    val in = new RawReader(raw)
    val present = in.bits(n)
    val bounded = in.bits(n)
    val nulls = counts(in, rows)
    val nans =
      if (!OrderedValue.hasNaN(dt)) null
      else {
        val counted = counts(in, rows)
        // As a rule there is neither null nor NaN: one array of zeros will do.
        if (Arrays.equals(counted, nulls)) nulls else counted
      }
    val stats = OrderedValue.encoding(dt) match {
      case Some(Encoding.Longs) =>
        val min = in.runningLongs(n)
        val max = in.longsAbove(min)
        val (least, most) = (OrderedValue.least(dt), OrderedValue.most(dt))
        foreach(bounded) { i =>
          if (min(i) > max(i)) throw crossed()
          if (min(i) < least || max(i) > most) throw new IndexFormatException("a bound that is no value of its type")
        }
        new LongStatsColumn(min, max, bounded, nulls, nans)
      case Some(Encoding.Bytes) =>
        val (minSizes, maxSizes) = (in.raw(n), in.raw(n))
        dt match {
          case _: DecimalType =>
            foreach(bounded) { i =>
              if (minSizes(i) != 16 || maxSizes(i) != 16) throw new IndexFormatException("a decimal not of 16 bytes")
            }
          case _ =>
        }
        val min = bounds(in, bounded, minSizes)
        val max = bounds(in, bounded, maxSizes)
        foreach(bounded)(i => if (min.compare(i, max) > 0) throw crossed())
        new BytesStatsColumn(min, max, bounded, nulls)
      case None =>
        if (!bounded.isEmpty) throw new IndexFormatException("bounds of a type without order")
        val none = ByteStrings.empty(n)
        new BytesStatsColumn(none, none, bounded, nulls)
    }
    in.end()
    new ColumnData(present, stats)
  }

  private def crossed() = new IndexFormatException("a minimum above its maximum")

  private def counts(in: RawReader, rows: Array[Long]): Array[Long] = {
    val counts = in.longs(rows.length)
    var i = 0
    while (i < counts.length) {
      if (counts(i) < -1 || counts(i) > rows(i)) throw new IndexFormatException("more nulls than rows")
      i += 1
    }
    counts
  }

  private def bounds(in: RawReader, bounded: BitSet, sizes: Array[Byte]): ByteStrings = {
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
