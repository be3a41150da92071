package org.sparkzorder.memory

import org.roaringbitmap.RoaringBitmap

/**
 * A filter that was evaluated, with the files in which no row passed it.
 *
 * @param numbers of the table's files
 * @param files numbers of the files without a row; must not be changed
 * @param weight characters of the filter's texts
 */
private[memory] final class RememberedFilter(
    val conditions: Set[Condition],
    val numbers: FileNumbers,
    val files: RoaringBitmap,
    weight: Long
) {

  def isEmpty: Boolean = files.isEmpty

  /** An estimate. */
  val bytes: Long = 200L + 2L * weight + files.getLongSizeInBytes

  /** Whether each row that passes all of `those` passes this filter. */
  def isImpliedBy(those: Set[Condition]): Boolean =
    conditions.forall(mine => those.contains(mine) || those.exists(_.implies(mine)))
}
