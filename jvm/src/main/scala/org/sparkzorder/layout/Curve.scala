package org.sparkzorder.layout

/**
 * A space-filling curve. A point has one id for each column, and each point has one value of the
 * curve. All points whose values share a prefix of bits are a box.
 *
 * The value of a point is `value(spread(0, id0) | spread(1, id1) | ..)`. So the part that depends
 * on one column can be computed once for each of its ids.
 */
trait Curve extends Serializable {

  /** The number of columns. A column may have no bits. */
  def columns: Int

  /** The bits of the curve's value, at most [[BitPlan.MaxTotalBits]]. */
  def totalBits: Int

  /** The bits of a column's id. */
  def bits(column: Int): Int

  /**
   * The part that a column's id contributes. Parts of different columns have no bit in common.
   *
   * @param id from 0 until 2^bits(column)
   */
  def spread(column: Int, id: Long): Long

  /** The value of the curve, from 0 until 2^totalBits, for the ORed parts of all columns. */
  def value(spread: Long): Long
}
