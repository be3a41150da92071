package org.sparkzorder.index

import java.lang.{Double => JDouble, Float => JFloat}
import java.util.{Arrays, BitSet}

import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Types
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.compat._
import org.sparkzorder.stats._

/**
 * A column of a table as columns of the index: `<name>_min`, `<name>_max`, `<name>_nulls`, and for float and double
 * `<name>_nans`. A file without bounds has no `min` and no `max`. A file without statistics of the column has no
 * counts. A count of -1 is unknown. A column of a type without order has only `nulls`.
 */
private[index] object ColumnPages {

  def names(name: String, dt: DataType): Seq[String] = {
    val bounds = if (OrderedValue.encoding(dt).isDefined) Seq("min", "max") else Nil
    (bounds ++ Seq("nulls") ++ Option.when(OrderedValue.hasNaN(dt))("nans")).map(suffix => s"${name}_$suffix")
  }

  def write(to: IndexWriter, name: String, dt: DataType, data: ColumnData): Unit = {
    val stats = data.stats
    val (files, bounded) = (to.files, stats.bounded)
    stats match {
      case c: LongStatsColumn =>
        Seq(("min", c.min, false), ("max", c.max, true)).foreach { case (suffix, v, isUpper) =>
          val page = dt match {
            case DateType   => PlainPage.ints(files, bounded, i => Math.toIntExact(v(i)))
            case FloatType  => PlainPage.ints(files, bounded, i => JFloat.floatToRawIntBits(float(v(i), isUpper)))
            case DoubleType =>
              PlainPage.longs(files, bounded, i => JDouble.doubleToRawLongBits(OrderedValue.toDouble(v(i))))
            case _ => PlainPage.longs(files, bounded, v(_))
          }
          to.column(bound(dt, isText = false).named(s"${name}_$suffix"), page)
        }
      case c: BytesStatsColumn if OrderedValue.encoding(dt).isDefined =>
        // Readers of Parquet fail on a text that is not UTF-8.
        val isText = dt.isInstanceOf[StringType] && Seq(c.min, c.max).forall(v =>
          bounded.stream.allMatch(i => OrderedValue.isText(UTF8String.fromBytes(v(i))))
        )
        Seq("min" -> c.min, "max" -> c.max).foreach { case (suffix, v) =>
          val value = if (dt.isInstanceOf[DecimalType]) (i: Int) => signFlipped(v(i), 0) else v(_)
          to.column(bound(dt, isText).named(s"${name}_$suffix"), PlainPage.bytes(files, bounded, value))
        }
      case _ =>
    }
    to.numbers(s"${name}_nulls", data.present, stats.nullCounts(_))
    if (stats.nanCounts != null) to.numbers(s"${name}_nans", data.present, stats.nanCounts(_))
  }

  /**
   * The type of a bound, by which it compares as the column does. Integers and booleans are INT64. Decimals have all
   * digits that fit, since an upper bound may have been rounded up to more than its type has.
   */
  private def bound(dt: DataType, isText: Boolean): Types.PrimitiveBuilder[PrimitiveType] =
    (dt, OrderedValue.encoding(dt)) match {
      case (d: DecimalType, Some(Encoding.Bytes)) => Types.optional(BINARY).as(decimalType(d.scale, 38))
      case (_, Some(Encoding.Bytes)) if isText    => Types.optional(BINARY).as(stringType)
      case (_, Some(Encoding.Bytes))              => Types.optional(BINARY)
      case (d: DecimalType, _)                    => Types.optional(INT64).as(decimalType(d.scale, 18))
      case (DateType, _)                          => Types.optional(INT32).as(dateType)
      case (FloatType, _)                         => Types.optional(FLOAT)
      case (DoubleType, _)                        => Types.optional(DOUBLE)
      case (TimestampType, _)                     => Types.optional(INT64).as(timestampType(true, TimeUnit.MICROS))
      case (TimestampNTZType, _)                  => Types.optional(INT64).as(timestampType(false, TimeUnit.MICROS))
      case (t, _) if OrderedValue.isTime(t)       => Types.optional(INT64).as(timeType(false, TimeUnit.NANOS))
      case _                                      => Types.optional(INT64)
    }

  /** The bound, or the next float in its direction if it is none. */
  private def float(encoded: Long, isUpper: Boolean): Float = {
    val exact = OrderedValue.toDouble(encoded)
    val near = exact.toFloat
    if (isUpper && near < exact) Math.nextUp(near) else if (!isUpper && near > exact) Math.nextDown(near) else near
  }

  /** Large decimals are two's complement in Parquet, and statistics have them with the sign flipped. */
  private def signFlipped(bytes: Array[Byte], at: Int): Array[Byte] = {
    bytes(at) = (bytes(at) ^ 0x80).toByte
    bytes
  }

  /**
   * @param pages of the columns that have these [[names]], for files of so many rows
   * @throws IndexFormatException unless [[write]] could have made them
   */
  def read(dt: DataType, rows: Array[Long], pages: Iterator[PlainPage]): ColumnData =
    OrderedValue.encoding(dt) match {
      case Some(Encoding.Longs) =>
        val (bounded, min) = numbers(dt, pages.next())
        val (again, max) = numbers(dt, pages.next())
        val (least, most) = (OrderedValue.least(dt), OrderedValue.most(dt))
        checkBounds(bounded, again)(i => min(i) <= max(i) && min(i) >= least && max(i) <= most)
        val (present, nulls) = counts(pages.next(), rows)
        val nans = if (OrderedValue.hasNaN(dt)) counts(pages.next(), rows)._2 else null
        // Most columns have neither null nor NaN: then one array of zeros is enough.
        val own = if (nans != null && Arrays.equals(nans, nulls)) nulls else nans
        new ColumnData(present, new LongStatsColumn(min, max, bounded, nulls, own))
      case Some(Encoding.Bytes) =>
        val (bounded, min) = strings(dt, pages.next())
        val (again, max) = strings(dt, pages.next())
        checkBounds(bounded, again)(i => min.compare(i, max) <= 0)
        val (present, nulls) = counts(pages.next(), rows)
        new ColumnData(present, new BytesStatsColumn(min, max, bounded, nulls))
      case None =>
        val (present, nulls) = counts(pages.next(), rows)
        val none = ByteStrings.empty(rows.length)
        new ColumnData(present, new BytesStatsColumn(none, none, new BitSet, nulls))
    }

  private def numbers(dt: DataType, page: PlainPage): (BitSet, Array[Long]) = {
    val v = if (dt == DateType || dt == FloatType) page.ints() else page.longs(0L)
    if (dt == FloatType)
      PlainPage.foreach(page.has)(i => v(i) = OrderedValue.ofDouble(JFloat.intBitsToFloat(v(i).toInt).toDouble))
    else if (dt == DoubleType)
      PlainPage.foreach(page.has)(i => v(i) = OrderedValue.ofDouble(JDouble.longBitsToDouble(v(i))))
    (page.has, v)
  }

  private def strings(dt: DataType, page: PlainPage): (BitSet, ByteStrings) = {
    val (bytes, starts) = page.bytes()
    if (dt.isInstanceOf[DecimalType]) PlainPage.foreach(page.has) { i =>
      if (starts(i + 1) - starts(i) != 16) throw new IndexFormatException("a decimal not of 16 bytes")
      signFlipped(bytes, starts(i))
    }
    (page.has, new ByteStrings(bytes, starts))
  }

  private def checkBounds(ofMin: BitSet, ofMax: BitSet)(isRight: Int => Boolean): Unit = {
    if (ofMin != ofMax) throw new IndexFormatException("a minimum without a maximum")
    PlainPage.foreach(ofMin)(i => if (!isRight(i)) throw new IndexFormatException("bounds that are none of their type"))
  }

  private def counts(page: PlainPage, rows: Array[Long]): (BitSet, Array[Long]) = {
    val counts = page.longs(-1L)
    var i = 0
    while (i < counts.length) {
      if (counts(i) < -1 || counts(i) > rows(i)) throw new IndexFormatException("more nulls than rows")
      i += 1
    }
    (page.has, counts)
  }
}
