package org.sparkzorder.write.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET

/**
 * Makes the rows of columnar batches that Spark makes, column by column: a loop reads one vector and writes its values
 * into 256 rows, or as many as have a megabyte, which stay in the processor's cache.
 *
 * The last row of each such block is compared with Spark's own.
 *
 * @param fields one for each field
 */
private[write] final class BatchRows(schema: StructType, fields: Array[FieldCopy]) {
  import BatchRows._

  private val rows = new RowBlock(fields.length, MostRows)
  private val row = new UnsafeRow(fields.length)

  /** Long rows are not measured again and again. */
  private var toMeasure = MostRows
  private lazy val spark = UnsafeProjection.create(schema)

  /** A row is valid until the next one is asked for. */
  def of(batch: ColumnarBatch): Iterator[InternalRow] = new Iterator[InternalRow] {
    private var first = 0
    private var count = 0
    private var at = 0

    override def hasNext: Boolean = at < count || first + count < batch.numRows

    override def next(): InternalRow = {
      if (!hasNext) Iterator.empty.next()
      if (at == count) {
        first += count
        count = fill(batch, first, math.min(toMeasure, batch.numRows - first))
        at = 0
        confirm(batch, first, count - 1)
      }
      at += 1
      rowAt(at - 1)
    }
  }

  /** @return how many rows were made */
  private def fill(batch: ColumnarBatch, first: Int, size: Int): Int = {
    rows.begin(size)
    var measured = size
    var c = 0
    while (c < fields.length) {
      measured = fields(c).measure(batch.column(c), first, measured, rows)
      c += 1
    }
    val count = rows.layOut(measured)
    toMeasure = math.min(MostRows, 2 * count)
    c = 0
    while (c < fields.length) {
      fields(c).write(batch.column(c), first, count, rows, c)
      c += 1
    }
    count
  }

  private def rowAt(i: Int): UnsafeRow = {
    row.pointTo(rows.bytes, BYTE_ARRAY_OFFSET.toLong + rows.starts(i), rows.starts(i + 1) - rows.starts(i))
    row
  }

  private def confirm(batch: ColumnarBatch, first: Int, i: Int): Unit =
    if (rowAt(i) != spark(batch.getRow(first + i)))
      throw new IllegalStateException(s"a row of ${schema.catalogString} differs from the one that Spark makes")
}

private[write] object BatchRows {

  private val MostRows = 256

  /** Whether all types are covered. */
  def canMake(schema: StructType): Boolean =
    schema.nonEmpty && schema.forall(f => FieldCopy.of(f.dataType).isDefined)

  /** The schema must be one of those that [[canMake]] names. */
  def of(schema: StructType): BatchRows =
    new BatchRows(schema, schema.fields.map(f => FieldCopy.of(f.dataType).get))
}
