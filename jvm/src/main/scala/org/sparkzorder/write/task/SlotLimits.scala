package org.sparkzorder.write.task

import scala.collection.BufferedIterator

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow

import org.sparkzorder.layout.{LayoutShape, RowLimit}
import org.sparkzorder.write.rows.RowPlan

/**
 * The limit that `spark.sql.files.maxRecordsPerFile` sets to the rows of a file.
 *
 * @param most rows of a file
 * @param z the field of a row with its value of the curve; None where the order has no borders
 */
private[write] final class SlotLimits(most: Long, z: Option[Int], shape: LayoutShape, plan: Broadcast[RowPlan])
    extends Serializable {

  /** The rows of a slot, file by file. Each file's rows must be read to their end before the next is asked for. */
  def filesOf(slot: Int, rows: Iterator[InternalRow]): Iterator[Iterator[InternalRow]] = {
    val layout = plan.value.layout
    val curve = layout.units(layout.unitOfSlot(slot)).curve
    val limit = new RowLimit(most, if (z.isEmpty) identity else shape.coarseness(curve))
    val left = rows.buffered

    new Iterator[Iterator[InternalRow]] {
      private var begun = false

      // A slot without rows becomes one file without rows.
      override def hasNext: Boolean = !begun || left.hasNext

      override def next(): Iterator[InternalRow] = {
        // The row that ended the previous file is known to belong to this one.
        val file = new File(left, limit, begun)
        begun = true
        file
      }
    }
  }

  private final class File(left: BufferedIterator[InternalRow], limit: RowLimit, private var known: Boolean)
      extends Iterator[InternalRow] {
    private var ended = false

    override def hasNext: Boolean = !ended && left.hasNext && {
      if (!known) {
        ended = limit.beginsFile(if (z.isEmpty) 0L else left.head.getLong(z.get))
        known = true
      }
      !ended
    }

    override def next(): InternalRow = {
      if (!hasNext) Iterator.empty.next()
      known = false
      left.next()
    }
  }
}
