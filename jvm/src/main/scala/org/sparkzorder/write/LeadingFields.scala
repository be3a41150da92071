package org.sparkzorder.write

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.StructType

/**
 * Rows without the fields that they were only placed and sorted by. An unsafe row begins with a bit for each field's
 * null, rounded up to words, and a word for each field; where the bits take as many words without the last fields, a
 * row of fewer fields is a view of the same memory, and a projection, which copies every byte, is saved.
 *
 * @param schema of the fields to keep
 */
private[write] final class LeadingFields(schema: StructType) {
  private val fields = schema.length
  private val view = new UnsafeRow(fields)
  private lazy val copy =
    UnsafeProjection.create(schema.zipWithIndex.map { case (f, i) => BoundReference(i, f.dataType, nullable = true) })

  /** Valid until the next call. */
  def of(row: InternalRow): InternalRow = row match {
    case u: UnsafeRow if u.numFields == fields                       => u
    case u: UnsafeRow if LeadingFields.possible(fields, u.numFields) =>
      view.pointTo(u.getBaseObject, u.getBaseOffset, u.getSizeInBytes)
      view
    case _ => copy(row)
  }
}

private[write] object LeadingFields {

  /** Whether `fields` of `all` fields can be looked at by themselves. */
  def possible(fields: Int, all: Int): Boolean =
    UnsafeRow.calculateBitSetWidthInBytes(fields) == UnsafeRow.calculateBitSetWidthInBytes(all)
}
