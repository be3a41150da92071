package org.sparkzorder.write.encode

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET

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

  /** Where a row begins in `bytes`. */
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
