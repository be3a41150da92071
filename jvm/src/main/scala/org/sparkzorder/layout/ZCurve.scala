package org.sparkzorder.layout

/**
 * Z-order over ids: the value of the curve takes its bits from the columns' ids in the order of a
 * [[BitPlan]].
 */
object ZCurve {

  /**
   * The value of a point, from 0 until 2^totalBits, monotone in each id.
   *
   * For two columns of 8 bits each, y = 214 and x = 97, leading y: 1011011000101001.
   *
   * @param ids one for each column, each from 0 until 2^bits(column)
   */
  def value(plan: BitPlan, ids: Array[Long]): Long = {
    require(ids.length == plan.columns, s"${ids.length} ids for ${plan.columns} columns")
    var z = 0L
    var i = 0
    while (i < ids.length) {
      z |= plan.spread(i, ids(i))
      i += 1
    }
    z
  }

  /** The point of a value: one id for each column. */
  def point(plan: BitPlan, z: Long): Array[Long] = Array.tabulate(plan.columns)(plan.extract(_, z))
}
