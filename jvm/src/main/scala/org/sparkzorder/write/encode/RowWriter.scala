package org.sparkzorder.write.encode

import org.apache.spark.sql.catalyst.InternalRow
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
