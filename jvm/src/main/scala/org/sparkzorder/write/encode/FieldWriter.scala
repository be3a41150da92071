package org.sparkzorder.write.encode

import java.nio.{ByteBuffer, ByteOrder}

import org.apache.parquet.column.{ColumnDescriptor, ColumnWriter}
import org.apache.parquet.io.api.Binary
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.util.DateTimeUtils

import org.sparkzorder.write.preserve.KeptNode

/**
 * Gives the values of one field to the writer of its column, which has no other columns in it. The values
 * are those that Spark's `ParquetWriteSupport` makes.
 */
private[encode] abstract class FieldWriter {

  /**
   * Writes a value that is not null.
   *
   * @param level 1 if the column may be null, else 0
   */
  protected def write(rows: RowBatch, i: Int, field: Int, to: ColumnWriter, level: Int): Unit

  final def writeAll(rows: RowBatch, field: Int, column: ColumnDescriptor, to: ColumnWriter): Unit = {
    val level = column.getMaxDefinitionLevel
    var i = 0
    while (i < rows.size) {
      if (!rows.row(i).isNullAt(field)) write(rows, i, field, to, level)
      else if (level == 1) to.writeNull(0, 0)
      else throw KeptNode.refused(column.getPath.head, KeptNode.NullInRequired)
      i += 1
    }
  }
}

private[encode] object FieldWriter {

  /** Reads a value with 32 bits or fewer. */
  def int(read: (UnsafeRow, Int) => Int): FieldWriter =
    (rows, i, field, to, level) => to.write(read(rows.row(i), field), 0, level)

  val Long: FieldWriter = (rows, i, field, to, level) => to.write(rows.row(i).getLong(field), 0, level)
  val Double: FieldWriter = (rows, i, field, to, level) => to.write(rows.row(i).getDouble(field), 0, level)
  val Float: FieldWriter = (rows, i, field, to, level) => to.write(rows.row(i).getFloat(field), 0, level)
  val Boolean: FieldWriter = (rows, i, field, to, level) => to.write(rows.row(i).getBoolean(field), 0, level)

  /** Strings and other bytes. A row has their place and their length. */
  val Bytes: FieldWriter = (rows, i, field, to, level) => {
    val at = rows.row(i).getLong(field)
    to.write(Binary.fromReusedByteArray(rows.bytes, rows.start(i) + (at >>> 32).toInt, at.toInt), 0, level)
  }

  /** The unscaled number of a decimal as so many bytes. A row has the fewest that hold it. */
  def decimal(length: Int): FieldWriter = {
    val buffer = new Array[Byte](length)
    (rows, i, field, to, level) => {
      val at = rows.row(i).getLong(field)
      val (from, size) = (rows.start(i) + (at >>> 32).toInt, at.toInt)
      java.util.Arrays.fill(buffer, 0, length - size, (if (rows.bytes(from) < 0) -1 else 0).toByte)
      System.arraycopy(rows.bytes, from, buffer, length - size, size)
      to.write(Binary.fromReusedByteArray(buffer), 0, level)
    }
  }

  /** Instants as the nanoseconds of a day, and the day. */
  def int96: FieldWriter = {
    val buffer = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN)
    (rows, i, field, to, level) => {
      val (day, nanos) = DateTimeUtils.toJulianDay(rows.row(i).getLong(field))
      buffer.putLong(0, nanos).putInt(8, day)
      to.write(Binary.fromReusedByteArray(buffer.array), 0, level)
    }
  }
}
