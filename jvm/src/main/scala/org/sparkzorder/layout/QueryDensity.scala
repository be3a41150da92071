package org.sparkzorder.layout

/** Distributions that give room to values by how often they are asked for, not only by how many rows have them. */
object QueryDensity {

  /** Parts that a sampled row is counted in, so that shares of a row are not lost. */
  private val Parts = 8

  /**
   * The distribution of the data in the share 1 - `share`, that of the queries in the share `share`. Its values are those
   * of the data, and each has a count.
   *
   * With `share` 1/2, values 1, 2, 3, 4 in a row each, and all queries for 4: ids of 1/16, 3/16, 5/16 and 11/16 instead
   * of 1/8, 3/8, 5/8 and 7/8, so that the value 4 has the upper half of the curve for itself.
   *
   * @param queries the queries' share of each sampled value; all 0 for none
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
