package org.sparkzorder.layout

/**
 * A space-filling curve over one id for each column: a bijection between points and values, such that all points whose
 * values share a prefix of bits are a box.
 *
 * The value of a point is `value(spread(0, id0) | spread(1, id1) | ..)`, so that what depends on one column alone is
 * worked out once for each of its ids.
 */
trait Curve extends Serializable {

  /** Number of columns; one may own no bit at all. */
  def columns: Int

  /** Bits of the curve's value, at most [[BitPlan.MaxTotalBits]]. */
  def totalBits: Int

  /** Bits of a column's id. */
  def bits(column: Int): Int

  /**
   * What a column's id contributes. Contributions of different columns have no bit in common.
   *
   * @param id from 0 until 2^bits(column)
   */
  def spread(column: Int, id: Long): Long

  /** The value of the curve, from 0 until 2^totalBits, for the contributions of all columns. */
  def value(spread: Long): Long
}
