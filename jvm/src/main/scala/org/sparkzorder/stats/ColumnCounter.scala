package org.sparkzorder.stats

import java.lang.{Long => JLong}
import java.math.BigInteger
import java.util.function.{ToDoubleFunction, ToLongFunction}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

import org.sparkzorder.membership.MembershipBuilder

/**
 * Collects the statistics of one field of a row or struct. This runs for each value that is
 * written, so it neither boxes values nor looks at types.
 */
private[stats] abstract class ColumnCounter(ordinal: Int) {
  private[stats] var nulls = 0L

  /** Collects the values too, if set. It is without values if one of them cannot be encoded. */
  private[stats] var members: MembershipBuilder = null

  final def add(row: InternalRow): Unit = if (row.isNullAt(ordinal)) addNull() else addValue(row)

  /** Counts a row in which the field is null, or a struct above it. */
  def addNull(): Unit = nulls += 1

  /** The value is not null. */
  protected def addValue(row: InternalRow): Unit

  def result(): ColumnStats
}

private[stats] object ColumnCounter {

  def apply(ordinal: Int, dt: DataType): ColumnCounter = dt match {
    case BooleanType => longs(ordinal)(row => if (row.getBoolean(ordinal)) 1L else 0L)
    case ByteType    => longs(ordinal)(_.getByte(ordinal).toLong)
    case ShortType   => longs(ordinal)(_.getShort(ordinal).toLong)
    case IntegerType | DateType | _: YearMonthIntervalType => longs(ordinal)(_.getInt(ordinal).toLong)
    case FloatType                                         => new Doubles(ordinal, _.getFloat(ordinal).toDouble)
    case DoubleType                                        => new Doubles(ordinal, _.getDouble(ordinal))
    case BinaryType                                        => new OfBytes(ordinal, isString = false)
    case other                                             =>
      (OrderedValue.encoding(other), other) match {
        case (Some(Encoding.Longs), d: DecimalType) => new OfDecimal(ordinal, d)
        case (Some(Encoding.Bytes), d: DecimalType) => new OfWideDecimal(ordinal, d)
        case (Some(Encoding.Longs), _)              => longs(ordinal)(_.getLong(ordinal))
        case (Some(Encoding.Bytes), _)              => new OfBytes(ordinal, isString = true)
        case (None, _)                              => new OfNulls(ordinal)
      }
  }

  private def longs(ordinal: Int)(value: ToLongFunction[InternalRow]): ColumnCounter = new Longs(ordinal) {
    protected def addValue(row: InternalRow): Unit = take(value.applyAsLong(row))
  }

  private final class OfNulls(ordinal: Int) extends ColumnCounter(ordinal) {
    protected def addValue(row: InternalRow): Unit = ()
    def result(): ColumnStats = ColumnStats(null, null, nulls, 0L)
  }

  private abstract class Longs(ordinal: Int) extends ColumnCounter(ordinal) {
    // With min > max there was no value yet, so no flag is needed.
    private var min = Long.MaxValue
    private var max = Long.MinValue
    private var lost = false

    protected final def take(v: Long): Unit = {
      if (v < min) min = v
      if (v > max) max = v
      if (members != null) members.add(v)
    }

    /** Notes that a value cannot be encoded, so there are no bounds. */
    protected final def lose(): Unit = {
      lost = true
      members = null
    }

    def result(): ColumnStats =
      if (lost || min > max) ColumnStats(null, null, nulls, 0L)
      else ColumnStats(JLong.valueOf(min), JLong.valueOf(max), nulls, 0L)
  }

  private final class OfDecimal(ordinal: Int, dt: DecimalType) extends Longs(ordinal) {
    private val precision = dt.precision
    private val scale = dt.scale

    protected def addValue(row: InternalRow): Unit = row match {
      // The unsafe row stores the unscaled long itself.
      case u: UnsafeRow => take(u.getLong(ordinal))
      case _            =>
        val v = row.getDecimal(ordinal, precision, scale)
        if (v.scale == scale && v.precision <= precision) take(v.toUnscaledLong)
        else exactly(dt, v).fold(lose())(u => take(u.longValueExact()))
    }
  }

  private final class Doubles(ordinal: Int, value: ToDoubleFunction[InternalRow]) extends ColumnCounter(ordinal) {
    private var min = Double.PositiveInfinity
    private var max = Double.NegativeInfinity
    private var nans = 0L

    protected def addValue(row: InternalRow): Unit = {
      val v = value.applyAsDouble(row)
      if (v != v) nans += 1
      else {
        if (v < min) min = v
        if (v > max) max = v
        if (members != null) members.add(OrderedValue.ofDouble(v))
      }
    }

    def result(): ColumnStats =
      if (min > max) ColumnStats(null, null, nulls, nans)
      else {
        val (low, high) = (OrderedValue.ofDouble(min), OrderedValue.ofDouble(max))
        ColumnStats(JLong.valueOf(low), JLong.valueOf(high), nulls, nans)
      }
  }

  private final class OfWideDecimal(ordinal: Int, dt: DecimalType) extends ColumnCounter(ordinal) {
    private var min: BigInteger = null
    private var max: BigInteger = null
    private var lost = false

    protected def addValue(row: InternalRow): Unit =
      exactly(dt, row.getDecimal(ordinal, dt.precision, dt.scale)).fold { lost = true; members = null } { v =>
        if (members != null) members.add(OrderedValue.ofBigInteger(v))
        if (min == null) { min = v; max = v }
        else if (v.compareTo(min) < 0) min = v
        else if (v.compareTo(max) > 0) max = v
      }

    def result(): ColumnStats =
      if (lost || min == null) ColumnStats(null, null, nulls, 0L)
      else ColumnStats(OrderedValue.ofBigInteger(min), OrderedValue.ofBigInteger(max), nulls, 0L)
  }

  /** Strings and binaries. An unsafe row tells where their bytes are, so no object is made. */
  private final class OfBytes(ordinal: Int, isString: Boolean) extends ColumnCounter(ordinal) {
    private val range = new ByteRange

    protected def addValue(row: InternalRow): Unit = row match {
      case u: UnsafeRow =>
        val place = u.getLong(ordinal)
        take(u.getBaseObject, u.getBaseOffset + (place >>> 32), place.toInt)
      case _ if isString =>
        val v = row.getUTF8String(ordinal)
        take(v.getBaseObject, v.getBaseOffset, v.numBytes)
      case _ =>
        val v = row.getBinary(ordinal)
        take(v, Platform.BYTE_ARRAY_OFFSET.toLong, v.length)
    }

    private def take(base: AnyRef, offset: Long, length: Int): Unit = {
      range.add(base, offset, length)
      if (members != null) members.add(base, offset, length)
    }

    def result(): ColumnStats = range.result(nulls)
  }

  private def exactly(dt: DecimalType, v: Decimal): Option[BigInteger] =
    try Some(OrderedValue.unscaledAt(dt, v))
    catch { case _: IllegalArgumentException => None }
}
