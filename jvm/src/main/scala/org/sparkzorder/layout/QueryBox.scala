package org.sparkzorder.layout

/**
 * The points that a query asks for: of each column the ids from `low` to `high`. Tells whether an interval of a Z-order
 * holds one of them.
 *
 * The next point of a box on the curve is BIGMIN of H. Tropf and H. Herzog, "Multidimensional range search in
 * dynamically balanced trees", Angewandte Informatik 2/1981, with any number of bits of each column.
 *
 * For two columns of 3 bits, y leading, and the box x 2..3, y 2..6: it lies between 12 and 45, and the first of its
 * points behind 19 is 36.
 *
 * @param low one id for each column, from 0 until 2^bits of the column
 * @param high ids, each at least that of `low`
 */
final class QueryBox(plan: BitPlan, low: Array[Long], high: Array[Long]) {
  require(low.length == plan.columns && high.length == plan.columns, s"ids of ${plan.columns} columns are wanted")
  low.indices.foreach(c => require(low(c) <= high(c), s"column $c: ids from ${low(c)} to ${high(c)}"))

  /** The least value of a point in the box. */
  val first: Long = ZCurve.value(plan, low)

  /** The greatest value of a point in the box. */
  val last: Long = ZCurve.value(plan, high)

  // For each bit, from the lowest, the lower bits of the same column.
  private val below: Array[Long] = {
    val owners = plan.sequence.reverse
    val seen = new Array[Long](plan.columns)
    Array.tabulate(owners.length) { p =>
      val mask = seen(owners(p))
      seen(owners(p)) |= 1L << p
      mask
    }
  }

  /** Whether a value from `from` to `to`, both included, is that of a point in the box. */
  def meets(from: Long, to: Long): Boolean = {
    val point = next(from)
    point >= 0 && point <= to
  }

  /** The least value of a point in the box that is not below z; -1 when there is none. */
  def next(z: Long): Long = if (z <= first) first else if (z > last) -1 else after(z - 1)

  /** BIGMIN: the least value of a point in the box above z; -1 when there is none. */
  private def after(z: Long): Long = {
    var min = first
    var max = last
    var found = -1L
    var p = below.length - 1
    while (p >= 0) {
      val bit = 1L << p
      val atMin = (min & bit) != 0
      val atMax = (max & bit) != 0
      if ((z & bit) == 0) {
        if (atMin) return min // The whole box lies above.
        if (atMax) {
          // What is left of the box has the bit or not: the upper part begins with the candidate, the search goes on below.
          found = (min | bit) & ~below(p)
          max = (max & ~bit) | below(p)
        }
      } else {
        if (!atMax) return found // The whole box lies below.
        if (!atMin) min = (min | bit) & ~below(p)
      }
      p -= 1
    }
    found
  }
}
