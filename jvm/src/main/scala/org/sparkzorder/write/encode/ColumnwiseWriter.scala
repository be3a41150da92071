package org.sparkzorder.write.encode

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.datasources.OutputWriter

/** Gives rows to a file, which the caller closes. */
private[write] trait RowWriter {

  /** The row may change afterwards. */
  def write(row: InternalRow): Unit

  /** Whether values are written column by column, see [[ColumnwiseWriter]]. */
  def isColumnwise: Boolean

  /** Gives the last rows to the file. Must be called before it is closed, if all went well. */
  def end(): Unit
}

private[write] object RowWriter {

  /** Row by row, as Spark does. */
  def of(writer: OutputWriter): RowWriter = new RowWriter {
    override def write(row: InternalRow): Unit = writer.write(row)
    override def isColumnwise: Boolean = false
    override def end(): Unit = ()
  }
}

/**
 * Writes the rows of a Parquet file column by column, which takes less time (docs/design/write.md), and gives the same
 * bytes.
 *
 * parquet-java looks at the sizes of pages and row groups after certain rows. Rows are gathered only up to the one
 * before such a row. That one goes through Spark's writer, so pages and row groups end where they ended before.
 *
 * @param fields one for each field
 */
private[write] final class ColumnwiseWriter private[encode] (
    writer: OutputWriter,
    records: InternalRecordWriter,
    fields: Array[FieldWriter]
) extends RowWriter {

  private val batch = new RowBatch(fields.length)
  private var room = records.rowsBeforeNextLook

  override def write(row: InternalRow): Unit = row match {
    case r: UnsafeRow if room > 0 && r.getSizeInBytes <= ColumnwiseWriter.LargestRow =>
      if (!batch.hasRoomFor(r)) flush()
      batch.add(r)
      room -= 1
    case other =>
      flush()
      writer.write(other)
      room = records.rowsBeforeNextLook
  }

  private def flush(): Unit = if (batch.size > 0) {
    val writers = records.columnWriters
    var i = 0
    while (i < fields.length) {
      fields(i).writeAll(batch, i, records.columns(i), writers(i))
      i += 1
    }
    records.written(batch.size)
    batch.clear()
  }

  override def isColumnwise: Boolean = true

  override def end(): Unit = flush()
}

private[write] object ColumnwiseWriter {

  private val LargestRow = RowBatch.MostBytes / 16
}
