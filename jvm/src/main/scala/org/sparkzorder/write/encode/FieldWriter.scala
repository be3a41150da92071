package org.sparkzorder.write.encode

import java.nio.{ByteBuffer, ByteOrder}

import scala.jdk.CollectionConverters._

import org.apache.parquet.column.{ColumnDescriptor, ColumnWriter}
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, Type}
import org.apache.parquet.schema.LogicalTypeAnnotation.{TimeUnit, TimestampLogicalTypeAnnotation}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition.REPEATED
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET

import org.sparkzorder.compat._
import org.sparkzorder.write.preserve.PreservedNode

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
      else throw PreservedNode.refused(column.getPath.head, PreservedNode.NullInRequired)
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

private[encode] object FieldWriters {

  /** None if a type is not covered, and Spark's writer has to take the rows. */
  def of(schema: StructType, written: MessageType): Option[Array[FieldWriter]] =
    if (schema.length != written.getFieldCount) None
    else {
      val found = schema.fields.toSeq.zip(written.getFields.asScala).map { case (f, t) => writer(f.dataType, t) }
      Option.when(found.nonEmpty && found.forall(_.isDefined))(found.flatten.toArray)
    }

  private def writer(dataType: DataType, written: Type): Option[FieldWriter] =
    if (!written.isPrimitive || written.isRepetition(REPEATED) || isOfNulls(written)) None
    else
      (dataType, written.asPrimitiveType.getPrimitiveTypeName) match {
        case (IntegerType | _: YearMonthIntervalType, INT32) => Some(FieldWriter.int(_.getInt(_)))
        case (DateType, INT32) if isCorrected(SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key) =>
          Some(FieldWriter.int(_.getInt(_)))
        case (ShortType, INT32) => Some(FieldWriter.int(_.getShort(_).toInt))
        case (ByteType, INT32)  => Some(FieldWriter.int(_.getByte(_).toInt))
        case (d: DecimalType, INT32) if d.precision <= Decimal.MAX_INT_DIGITS =>
          Some(FieldWriter.int(_.getLong(_).toInt))
        case (d: DecimalType, INT64) if d.precision <= Decimal.MAX_LONG_DIGITS               => Some(FieldWriter.Long)
        case (d: DecimalType, FIXED_LEN_BYTE_ARRAY) if d.precision > Decimal.MAX_LONG_DIGITS =>
          Some(FieldWriter.decimal(written.asPrimitiveType.getTypeLength))
        case (LongType | _: DayTimeIntervalType, INT64)     => Some(FieldWriter.Long)
        case (TimestampNTZType, INT64) if isMicros(written) => Some(FieldWriter.Long)
        case (TimestampType, INT64)
            if isMicros(written) && isCorrected(SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key) => Some(FieldWriter.Long)
        case (TimestampType, INT96) if isCorrected(SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE.key) =>
          Some(FieldWriter.int96)
        case (FloatType, FLOAT)                   => Some(FieldWriter.Float)
        case (DoubleType, DOUBLE)                 => Some(FieldWriter.Double)
        case (BooleanType, BOOLEAN)               => Some(FieldWriter.Boolean)
        case (_: StringType | BinaryType, BINARY) => Some(FieldWriter.Bytes)
        case _                                    => None
      }

  /** Whether days and instants are written as they are. */
  private def isCorrected(key: String): Boolean = "CORRECTED".equalsIgnoreCase(SQLConf.get.getConfString(key, null))

  private def isMicros(t: Type): Boolean = t.getLogicalTypeAnnotation match {
    case ts: TimestampLogicalTypeAnnotation => ts.getUnit == TimeUnit.MICROS
    case _                                  => false
  }

  /** Such a column refuses values. Not every version of parquet-java has a class for this type. */
  private def isOfNulls(t: Type): Boolean =
    t.getLogicalTypeAnnotation != null && t.getLogicalTypeAnnotation.toString == "UNKNOWN"
}

/**
 * Copies of some rows, one after the other in an array.
 *
 * @param fields of a row
 */
private[encode] final class RowBatch(fields: Int) {
  import RowBatch._

  private val rows = Array.fill(MostRows)(new UnsafeRow(fields))
  private val starts = new Array[Int](MostRows)
  private var end = 0

  val bytes = new Array[Byte](MostBytes)
  var size = 0

  def row(i: Int): UnsafeRow = rows(i)

  def start(i: Int): Int = starts(i)

  def hasRoomFor(row: UnsafeRow): Boolean = size < MostRows && end + row.getSizeInBytes <= MostBytes

  def add(row: UnsafeRow): Unit = {
    val length = row.getSizeInBytes
    row.writeToMemory(bytes, BYTE_ARRAY_OFFSET.toLong + end)
    rows(size).pointTo(bytes, BYTE_ARRAY_OFFSET.toLong + end, length)
    starts(size) = end
    end += length
    size += 1
  }

  def clear(): Unit = {
    size = 0
    end = 0
  }
}

private[encode] object RowBatch {

  /** The rows of a wide table fit into the processor's cache. */
  val MostRows = 1024

  val MostBytes: Int = 1 << 20
}
