package org.sparkzorder.write.task

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.StructType

/**
 * Takes the last fields off rows: those that rows were placed and sorted by. An unsafe row begins with a null bit for
 * each field, rounded up to words. If these take as many words without the last fields, the shorter row is a view of
 * the same memory, which avoids a projection.
 *
 * @param schema of the fields to keep
 */
private[write] final class LeadingFields(schema: StructType) {
  private val fields = schema.length
  private val view = new UnsafeRow(fields)
  private lazy val copy =
    UnsafeProjection.create(schema.zipWithIndex.map { case (f, i) => BoundReference(i, f.dataType, nullable = true) })

  /** The result is valid until the next call. */
  def of(row: InternalRow): InternalRow = row match {
    case u: UnsafeRow if u.numFields == fields                       => u
    case u: UnsafeRow if LeadingFields.possible(fields, u.numFields) =>
      view.pointTo(u.getBaseObject, u.getBaseOffset, u.getSizeInBytes)
      view
    case _ => copy(row)
  }
}

private[write] object LeadingFields {

  /** Whether the first `fields` of `all` fields can be a view of the same memory. */
  def possible(fields: Int, all: Int): Boolean =
    UnsafeRow.calculateBitSetWidthInBytes(fields) == UnsafeRow.calculateBitSetWidthInBytes(all)
}
