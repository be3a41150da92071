package org.sparkzorder.layout

/**
 * Shares a curve's bits among the columns, by the distribution of their sampled values: see "Bits" in
 * docs/design/layout.md.
 *
 * With b bits a column has 2^b cells. Its width is the share of the rows that are in the same cell as a given row, on
 * average over the rows: the sum of the squares of the cells' shares. The next bit goes to the column with the largest
 * weight times twice what the bit takes off the width. While there are many values, this is the rule of [[BitPlan]].
 */
object BitShares {

  /**
   * Gains that differ by less than this factor count as equal, since a sample has noise. Then the
   * earlier column comes first. A column with twice the weight of another always comes first.
   */
  private def equalGains(rows: Int): Double = math.max(0.55, 0.8 - 2 / math.sqrt(rows.toDouble))

  def plan(weights: Seq[Double], distributions: Seq[ValueDistribution]): BitPlan =
    if (weights.length == 1) BitPlan.forKeys(weights)
    else {
      val gains = distributions.map(gainsOf).toArray
      val share = equalGains(distributions.map(_.total).max)
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
   * All bits of the first column that tell sampled values apart, then those of the next column.
   * This is the order of a sort, except among values that the sample cannot tell apart.
   */
  def lexicographic(distributions: Seq[ValueDistribution]): BitPlan =
    if (distributions.length == 1) BitPlan.forKeys(Seq(1d))
    else {
      val owners = distributions.indices.flatMap(c => Seq.fill(widthsOf(distributions(c)).length - 1)(c))
      BitPlan.ofSequence(owners.take(BitPlan.MaxTotalBits), distributions.length)
    }

  /**
   * Twice what each further bit takes off the width. A bit may take off little, and the next one
   * more. Then both get the mean, so that gains never rise from one bit to the next.
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

  /**
   * @param mean the mean width of a column's cells
   * @param isFinest whether no cell has two sampled values, so that more bits change nothing
   */
  private final case class Width(mean: Double, isFinest: Boolean)

  /** The widths with 0, 1, 2.. bits, up to the number of bits that tells all sampled values apart. */
  private def widthsOf(distribution: ValueDistribution): Array[Double] = {
    val counts = (distribution.nulls +: (0 until distribution.distinct).map(distribution.count)).toArray
    val known = counts.indices.filter(counts(_) > 0)
    val widths = Array.newBuilder[Double]
    widths += 1d
    var bits = 0
    var isFinest = known.length <= 1
    while (!isFinest && bits < BitPlan.MaxBitsPerColumn) {
      bits += 1
      val next = widthOf(distribution, counts, known, bits)
      widths += next.mean
      isFinest = next.isFinest
    }
    widths.result()
  }

  /**
   * @param counts rows of null, then of each sampled value
   * @param known the indexes of counts that are not 0
   */
  private def widthOf(distribution: ValueDistribution, counts: Array[Int], known: IndexedSeq[Int], bits: Int): Width = {
    val total = distribution.total.toDouble
    var sum = 0d
    var cell = -1L
    var share = 0d
    var isFinest = true
    known.foreach { i =>
      // Place 0 is null, and place 2i is the i-th value, counted from 1.
      val id = distribution.id(2 * i, bits)
      if (id != cell) {
        sum += share * share
        share = 0d
        cell = id
      } else isFinest = false
      share += counts(i) / total
    }
    Width(sum + share * share, isFinest)
  }
}
