package org.sparkzorder.write

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Rows without the fields that they were only placed and sorted by. An unsafe row begins with a bit for each field's
 * null, rounded up to words, and a word for each field; where the bits take as many words without the last fields, a
 * row of fewer fields is a view of the same memory, and a projection, which copies every byte, is saved.
 *
 * @param fields to keep
 */
private[write] final class LeadingFields(fields: Int) {
  private val view = new UnsafeRow(fields)

  /** Valid until the next call. */
  def of(row: InternalRow): InternalRow = row match {
    case u: UnsafeRow if u.numFields != fields =>
      view.pointTo(u.getBaseObject, u.getBaseOffset, u.getSizeInBytes)
      view
    case _ => row
  }
}

private[write] object LeadingFields {

  /** Whether `fields` of `all` fields can be looked at by themselves. */
  def possible(fields: Int, all: Int): Boolean =
    UnsafeRow.calculateBitSetWidthInBytes(fields) == UnsafeRow.calculateBitSetWidthInBytes(all)
}
