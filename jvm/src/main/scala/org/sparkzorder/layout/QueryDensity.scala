package org.sparkzorder.layout

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
