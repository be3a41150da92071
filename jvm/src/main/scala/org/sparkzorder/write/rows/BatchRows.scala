package org.sparkzorder.write.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET

/**
 * Makes the rows of columnar batches that Spark makes, column by column: a loop reads one vector and writes its values
 * into 256 rows, or as many as have a megabyte, which stay in the processor's cache.
 *
 * The batch is hashed before. So a fault here is noticed when the new files are read back.
 *
 * @param fields one for each field
 */
private[write] final class BatchRows(fields: Array[FieldCopy]) {
  import BatchRows._

  private val rows = new RowBlock(fields.length, MostRows)
  private val row = new UnsafeRow(fields.length)

  /** Long rows are not measured again and again. */
  private var toMeasure = MostRows

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
}

private[write] object BatchRows {

  private val MostRows = 256

  def canMake(schema: StructType): Boolean = schema.nonEmpty && schema.forall(f => FieldCopy.of(f.dataType).isDefined)

  /** The schema must be one of those that [[canMake]] names. */
  def of(schema: StructType): BatchRows = new BatchRows(schema.fields.map(f => FieldCopy.of(f.dataType).get))
}
