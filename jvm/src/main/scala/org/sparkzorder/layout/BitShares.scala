package org.sparkzorder.layout

/**
 * Shares a curve's bits among columns by what the sample says of them.
 *
 * The width of a column at b bits is the share of rows that a row's cell holds, on average over the rows: the sum of
 * the squares of the cells' shares. It is 1 without bits, and half of that with each bit while values are many and
 * evenly spread. Then this is the rule of [[BitPlan]]: the next bit goes to the largest weight times width. Where values
 * are few or uneven, a bit narrows less, or nothing, and what counts is by how much: weight times twice what the bit
 * takes off. A boolean's second bit takes off nothing, so it has one.
 */
object BitShares {

  /**
   * Columns whose gains differ by less take turns, the earlier one first: a sample's noise is no reason. Twice the weight
   * always is one.
   */
  private def alike(rows: Int): Double = math.max(0.55, 0.8 - 2 / math.sqrt(rows.toDouble))

  /** @param weights one for each column, positive and finite */
  def plan(weights: Seq[Double], distributions: Seq[ValueDistribution]): BitPlan =
    if (weights.length == 1) BitPlan.forKeys(weights)
    else {
      val gains = distributions.map(gainsOf).toArray
      val share = alike(distributions.map(_.total).max)
      val taken = new Array[Int](gains.length)
      val owners = Iterator.continually {
        val next = gains.indices.map(c => if (taken(c) < gains(c).length) weights(c) * gains(c)(taken(c)) else 0d)
        val best = next.max
        val owner = if (best > 0) next.indexWhere(_ >= share * best) else -1
        if (owner >= 0) taken(owner) += 1
        owner
      }.takeWhile(_ >= 0).take(BitPlan.MaxTotalBits).toVector
      BitPlan.ofSequence(owners, weights.length)
    }

  /**
   * All bits of the first column that set sampled values apart, then those of the next: the order of a sort, but for
   * values that the sample does not know apart.
   */
  def lexicographic(distributions: Seq[ValueDistribution]): BitPlan =
    if (distributions.length == 1) BitPlan.forKeys(Seq(1d))
    else {
      val owners = distributions.indices.flatMap(c => Seq.fill(widthsOf(distributions(c)).length - 1)(c))
      BitPlan.ofSequence(owners.take(BitPlan.MaxTotalBits), distributions.length)
    }

  /**
   * Twice what each further bit takes off the width. A bit that only makes room for a later one has its share of what
   * both take off, so gains never rise from one bit to the next.
   */
  private def gainsOf(distribution: ValueDistribution): Array[Double] = {
    val widths = widthsOf(distribution)
    val gains = new Array[Double](widths.length - 1)
    var from = 0
    while (from < gains.length) {
      val to = (from + 1 until widths.length).maxBy(b => ((widths(from) - widths(b)) / (b - from), b))
      for (b <- from until to) gains(b) = 2 * (widths(from) - widths(to)) / (to - from)
      from = to
    }
    gains
  }

  /** The width at 0, 1, .. bits, up to where all sampled values are apart. */
  private def widthsOf(distribution: ValueDistribution): Array[Double] = {
    val counts = distribution.nulls +: (0 until distribution.distinct).map(distribution.count)
    val total = distribution.total.toDouble
    val held = counts.indices.filter(counts(_) > 0)
    def width(bits: Int): (Double, Boolean) = {
      var sum = 0d
      var cell = -1L
      var share = 0d
      var apart = true
      held.foreach { i =>
        // Place 0 is null, 2i the i-th value from 1 on.
        val id = distribution.id(2 * i, bits)
        if (id != cell) {
          sum += share * share
          share = 0d
          cell = id
        } else apart = false
        share += counts(i) / total
      }
      (sum + share * share, apart)
    }
    val widths = Array.newBuilder[Double]
    var bits = 0
    var apart = held.length <= 1
    widths += 1d
    while (!apart && bits < BitPlan.MaxBitsPerColumn) {
      bits += 1
      val (w, all) = width(bits)
      widths += w
      apart = all
    }
    widths.result()
  }
}
