package org.sparkzorder.write

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.vectorized.{OffHeapColumnVector, OnHeapColumnVector, WritableColumnVector}
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

/** Makes batches of flat columns from rows. */
object Batches {

  def batchOf(rows: Seq[InternalRow], schema: StructType, onHeap: Boolean): ColumnarBatch = {
    val size = math.max(1, rows.length)
    val vectors: Array[WritableColumnVector] =
      if (onHeap) OnHeapColumnVector.allocateColumns(size, schema).toArray
      else OffHeapColumnVector.allocateColumns(size, schema).toArray
    for { (r, i) <- rows.zipWithIndex; c <- schema.indices } put(vectors(c), i, r, c, schema(c).dataType)
    new ColumnarBatch(vectors.toArray[ColumnVector], rows.length)
  }

  private def put(to: WritableColumnVector, i: Int, row: InternalRow, c: Int, dataType: DataType): Unit =
    if (row.isNullAt(c)) to.putNull(i)
    else dataType match {
      case BooleanType                                       => to.putBoolean(i, row.getBoolean(c))
      case ByteType                                          => to.putByte(i, row.getByte(c))
      case ShortType                                         => to.putShort(i, row.getShort(c))
      case IntegerType | DateType | _: YearMonthIntervalType => to.putInt(i, row.getInt(c))
      case FloatType                                         => to.putFloat(i, row.getFloat(c))
      case DoubleType                                        => to.putDouble(i, row.getDouble(c))
      case StringType                                        => bytes(to, i, row.getUTF8String(c).getBytes)
      case BinaryType                                        => bytes(to, i, row.getBinary(c))
      case d: DecimalType => to.putDecimal(i, row.getDecimal(c, d.precision, d.scale), d.precision)
      case _              => to.putLong(i, row.getLong(c))
    }

  private def bytes(to: WritableColumnVector, i: Int, of: Array[Byte]): Unit = {
    to.putByteArray(i, of, 0, of.length)
    ()
  }
}
