package org.sparkzorder.layout

/**
 * The points that a query asks for: in each column the ids from `low` to `high`. It tells whether one of them is in an
 * interval of the Z-order curve.
 *
 * The next point of a box on the curve is BIGMIN of H. Tropf and H. Herzog, "Multidimensional range search in
 * dynamically balanced trees", Angewandte Informatik 2/1981, for any number of bits of each column.
 *
 * For example, two columns have 3 bits each, y leads, and the box is x from 2 to 3 and y from 2 to 6. It is between 12
 * and 45, and its first point behind 19 is 36.
 *
 * @param low one id for each column, from 0 until 2^bits of the column
 * @param high ids, each at least that of `low`
 */
final class QueryBox(plan: BitPlan, low: Array[Long], high: Array[Long]) {
  require(low.length == plan.columns && high.length == plan.columns, s"ids of ${plan.columns} columns are wanted")
  low.indices.foreach(c => require(low(c) <= high(c), s"column $c: ids from ${low(c)} to ${high(c)}"))

  /** The least value of the curve in the box. */
  val first: Long = ZCurve.value(plan, low)

  /** The greatest value of the curve in the box. */
  val last: Long = ZCurve.value(plan, high)

  // For each bit, from the lowest one on, a mask of the lower bits of the same column.
  private val below: Array[Long] = {
    val owners = plan.sequence.reverse
    val seen = new Array[Long](plan.columns)
    Array.tabulate(owners.length) { p =>
      val mask = seen(owners(p))
      seen(owners(p)) |= 1L << p
      mask
    }
  }

  /** Whether a point in the box has a value from `from` to `to`, both included. */
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
        if (atMin) return min // The whole box is above z.
        if (atMax) {
          // The bit divides what is left of the box. The upper part begins with a candidate; the
          // search goes on in the lower.
          found = (min | bit) & ~below(p)
          max = (max & ~bit) | below(p)
        }
      } else {
        if (!atMax) return found // The whole box is below z.
        if (!atMin) min = (min | bit) & ~below(p)
      }
      p -= 1
    }
    found
  }
}

/** Distributions that give more room on the curve to values that queries often ask for, not only to frequent values. */
object QueryDensity {

  /** Each sampled row counts as so many parts, so that fractions of a row are not lost. */
  private val Parts = 8

  /**
   * The distribution of the data with the weight 1 - `share`, mixed with that of the queries with the weight `share`.
   * It has the values of the data, and each value has a count of at least 1.
   *
   * For example, four rows have the values 1, 2, 3 and 4, all queries ask for 4, and `share` is 1/2. Then the values
   * are at 1/16, 3/16, 5/16 and 11/16 instead of 1/8, 3/8, 5/8 and 7/8. The value 4 has more than half of the curve.
   *
   * @param queries how often queries ask for each sampled value; only ratios count. All 0 if there are no queries.
   * @param share from 0 until 1
   */
  def mixed(data: ValueDistribution, queries: Array[Double], share: Double): ValueDistribution = {
    require(share >= 0 && share < 1, s"a share from 0 until 1 is expected, got $share")
    require(queries.length == data.distinct, s"${queries.length} values for ${data.distinct}")
    val asked = queries.sum
    if (asked <= 0 || share == 0) data
    else {
      val total = math.min(data.total.toLong * Parts, 1L << 30).toDouble
      val own = (1 - share) * total / data.total
      val nulls = math.round(own * data.nulls)
      val below = new Array[Int](data.distinct + 1)
      var sum = nulls.toDouble
      below(0) = nulls.toInt
      queries.indices.foreach { i =>
        sum += own * data.count(i) + share * total * queries(i) / asked
        below(i + 1) = math.max(math.round(sum).toInt, below(i) + 1)
      }
      data match {
        case d: LongDistribution  => new LongDistribution(d.values, nulls.toInt, below)
        case d: BytesDistribution => new BytesDistribution(d.values, nulls.toInt, below)
      }
    }
  }
}
