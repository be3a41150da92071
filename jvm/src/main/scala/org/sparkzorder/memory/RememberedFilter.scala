package org.sparkzorder.memory

import org.roaringbitmap.RoaringBitmap

/**
 * A filter that was evaluated, with the files in which no row passed it.
 *
 * @param numbers of the table's files
 * @param files numbers of the files without a row; must not be changed
 * @param weight characters of the filter's texts
 * @param kept the columns that it is about, if it may be written to the table's side folder
 */
private[memory] final class RememberedFilter(
    val conditions: Set[Condition],
    val numbers: FileNumbers,
    val files: RoaringBitmap,
    weight: Long,
    val kept: Option[Set[String]]
) {

  def isEmpty: Boolean = files.isEmpty

  /** The conditions without their words. */
  def digests: Set[String] = conditions.map {
    case Condition.Opaque(text) if text.startsWith(Condition.Digest) => text
    case c                                                           => c.digested.anchor
  }

  /** An estimate. */
  val bytes: Long = 200L + 2L * weight + files.getLongSizeInBytes

  /** Whether each row that passes all of `those` passes this filter. */
  def isImpliedBy(those: Set[Condition]): Boolean =
    conditions.forall(mine => those.contains(mine) || those.exists(_.implies(mine)))
}
