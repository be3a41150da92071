package org.sparkzorder.layout

/**
 * How large boundaries may be. They are stored as long as there is a file of them, so there must be room for those of many
 * partitions, and for those of a table of any number of files.
 *
 * A sample of 100 rows a file says more than is needed to cut files: some boundaries in each are enough, also where all
 * columns rise together. Below the least budget, a sample's error is larger than what lies between two boundaries.
 */
object FrameBudget {
  private val Least = 16L << 10
  private val OfFile = 2L << 10

  /** Of one unit, whatever the number of its files. */
  val Most: Long = 8L << 20

  /** However long they are. */
  private val FewestValues = 16

  /** Bytes for the boundaries of so many files. */
  def of(files: Int): Long = math.min(Least + OfFile * (files - 1), Most)

  /** The same columns, those that are too large with fewer values. They share what those leave that need less. */
  def fit(distributions: IndexedSeq[ValueDistribution], bytes: Long): IndexedSeq[ValueDistribution] = {
    val sizes = distributions.map(FrameBytes.size)
    var left = bytes
    val shares = sizes.indices.sortBy(sizes).zipWithIndex.map { case (c, rank) =>
      val share = math.min(sizes(c), left / (sizes.length - rank))
      left -= share
      c -> share
    }.toMap
    distributions.indices.map(c => fit(distributions(c), sizes(c), shares(c)))
  }

  private def fit(d: ValueDistribution, size: Long, bytes: Long): ValueDistribution = {
    def most(n: Double) = math.max(FewestValues, n.toInt)
    var found = d
    var values = most(d.distinct.toDouble * bytes / math.max(1L, size))
    if (size > bytes) found = d.thinned(values)
    // The fewer they are, the farther apart, and the longer in bytes.
    while (FrameBytes.size(found) > bytes && values > FewestValues) {
      values = most(values * 0.9)
      found = d.thinned(values)
    }
    found
  }
}
