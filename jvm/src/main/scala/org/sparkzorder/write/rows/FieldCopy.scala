package org.sparkzorder.write.rows

import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.ColumnVector
import org.apache.spark.unsafe.Platform._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Writes the values of a column into the rows of a block, as Spark's `UnsafeRowWriter` writes them. The usual types
 * have loops of their own, in which the compiler knows what is called.
 */
private[rows] abstract class FieldCopy {

  /**
   * Adds how many bytes each value takes beside its word.
   *
   * @return how many rows were measured: fewer than asked for, but not none, if their values are long
   */
  def measure(from: ColumnVector, first: Int, size: Int, rows: RowBlock): Int = size

  /**
   * Writes the values of at most as many rows as were measured. The words of the rows are zero before.
   *
   * @param first row of the vector that goes to the first row of the block
   */
  def write(from: ColumnVector, first: Int, size: Int, rows: RowBlock, field: Int): Unit
}

private[rows] object FieldCopy {

  def of(dataType: DataType): Option[FieldCopy] = dataType match {
    case IntegerType | DateType | _: YearMonthIntervalType                    => Some(new OfInt)
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType => Some(new OfLong)
    case d: DecimalType if d.precision <= Decimal.MAX_LONG_DIGITS             =>
      Some(new Fixed((v, i, to, at) => putLong(to, at, v.getDecimal(i, d.precision, d.scale).toUnscaledLong)))
    case d: DecimalType => Some(new OfWideDecimal(d))
    case _: StringType  => Some(new OfBytes(_.getUTF8String(_)))
    case BinaryType     => Some(new OfBytes((v, i) => UTF8String.fromBytes(v.getBinary(i))))
    case BooleanType    => Some(new Fixed((v, i, to, at) => putBoolean(to, at, v.getBoolean(i))))
    case ByteType       => Some(new Fixed((v, i, to, at) => putByte(to, at, v.getByte(i))))
    case ShortType      => Some(new Fixed((v, i, to, at) => putShort(to, at, v.getShort(i))))
    case FloatType      => Some(new Fixed((v, i, to, at) => putFloat(to, at, v.getFloat(i))))
    case DoubleType     => Some(new Fixed((v, i, to, at) => putDouble(to, at, v.getDouble(i))))
    case _              => None
  }

  private trait Put { def put(from: ColumnVector, row: Int, to: Array[Byte], at: Long): Unit }

  private final class Fixed(put: Put) extends FieldCopy {
    override def write(from: ColumnVector, first: Int, size: Int, rows: RowBlock, field: Int): Unit = {
      val word = rows.word(field)
      var i = 0
      while (i < size) {
        if (from.isNullAt(first + i)) rows.setNull(i, field)
        else put.put(from, first + i, rows.bytes, word + rows.starts(i))
        i += 1
      }
    }
  }

  private final class OfInt extends FieldCopy {
    override def write(from: ColumnVector, first: Int, size: Int, rows: RowBlock, field: Int): Unit = {
      val word = rows.word(field)
      var i = 0
      while (i < size) {
        if (from.isNullAt(first + i)) rows.setNull(i, field)
        else putInt(rows.bytes, word + rows.starts(i), from.getInt(first + i))
        i += 1
      }
    }
  }

  private final class OfLong extends FieldCopy {
    override def write(from: ColumnVector, first: Int, size: Int, rows: RowBlock, field: Int): Unit = {
      val word = rows.word(field)
      var i = 0
      while (i < size) {
        if (from.isNullAt(first + i)) rows.setNull(i, field)
        else putLong(rows.bytes, word + rows.starts(i), from.getLong(first + i))
        i += 1
      }
    }
  }

  /** A null keeps its place, so that a row may get a value later. */
  private final class OfWideDecimal(of: DecimalType) extends FieldCopy {
    private val Room = 16

    override def measure(from: ColumnVector, first: Int, size: Int, rows: RowBlock): Int = {
      (0 until size).foreach(rows.lengthen(_, Room))
      size
    }

    override def write(from: ColumnVector, first: Int, size: Int, rows: RowBlock, field: Int): Unit =
      (0 until size).foreach { i =>
        val at = rows.begin(i, field, Room)
        putLong(rows.bytes, at, 0L)
        putLong(rows.bytes, at + 8, 0L)
        if (from.isNullAt(first + i)) rows.setNull(i, field)
        else {
          val v = from.getDecimal(first + i, of.precision, of.scale).toJavaBigDecimal.unscaledValue.toByteArray
          copyMemory(v, BYTE_ARRAY_OFFSET.toLong, rows.bytes, at, v.length.toLong)
          rows.setLength(i, field, v.length)
        }
      }
  }

  /** Values with a length of their own. The first pass keeps them for the second one. */
  private final class OfBytes(read: (ColumnVector, Int) => UTF8String) extends FieldCopy {
    private var values = new Array[UTF8String](0)
    private var measured = 0

    override def measure(from: ColumnVector, first: Int, size: Int, rows: RowBlock): Int = {
      if (values.length < size) values = new Array[UTF8String](size)
      var bytes = 0L
      measured = 0
      while (measured < size && bytes <= RowBlock.MostBytes) {
        val i = measured
        if (!from.isNullAt(first + i)) {
          values(i) = read(from, first + i)
          rows.lengthen(i, padded(values(i).numBytes))
          bytes += values(i).numBytes
        }
        measured += 1
      }
      measured
    }

    override def write(from: ColumnVector, first: Int, size: Int, rows: RowBlock, field: Int): Unit = {
      var i = 0
      while (i < size) {
        val v = values(i)
        if (v == null) rows.setNull(i, field)
        else {
          val (length, all) = (v.numBytes, padded(v.numBytes))
          val at = rows.begin(i, field, all)
          if (all > 0) putLong(rows.bytes, at + all - 8, 0L)
          copyMemory(v.getBaseObject, v.getBaseOffset, rows.bytes, at, length.toLong)
          rows.setLength(i, field, length)
        }
        i += 1
      }
      // Values may be copies, and need not live longer.
      java.util.Arrays.fill(values.asInstanceOf[Array[AnyRef]], 0, measured, null)
    }
  }

  private def padded(length: Int): Int = Math.addExact(length, 7) & ~7
}
