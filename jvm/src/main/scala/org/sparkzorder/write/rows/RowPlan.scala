package org.sparkzorder.write.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types.IntegerType

import org.sparkzorder.layout.LayoutModel

/**
 * What a task needs to send each row to its file.
 *
 * @param partitions number of partitions of the shuffle, at least one for each slot
 */
final class RowPlan(val layout: LayoutModel, partitions: Int) extends Serializable {
  def this(layout: LayoutModel) = this(layout, layout.slots)

  private val slotKeys = RowPlan.slotKeys(partitions)

  /** The value to partition a row by, so that its partition gets the number of its slot. */
  def slotKey(file: Int, z: Long, tie: Long): Int = slotKeys(layout.slot(file, z, tie))
}

object RowPlan {

  /**
   * For each partition number, an integer that Spark's hash partitioning sends there. Spark 4.0 cannot partition by a
   * given number. Hash partitioning is documented to give the same results in all versions.
   */
  def slotKeys(partitions: Int): Array[Int] = {
    val input = BoundReference(0, IntegerType, nullable = false)
    val partitionOf = HashPartitioning(Seq(input), partitions).partitionIdExpression
    val keys = new Array[Int](partitions)
    val found = new java.util.BitSet(partitions)
    var left = partitions
    var key = 0
    while (left > 0) {
      val p = partitionOf.eval(InternalRow(key)).asInstanceOf[Int]
      if (!found.get(p)) {
        found.set(p)
        keys(p) = key
        left -= 1
      }
      key += 1
    }
    keys
  }
}
