package org.sparkzorder.layout

/**
 * How large boundaries may be. They are stored as long as there is a file of them, and each change of the index writes them
 * again, so they are in proportion to the files.
 *
 * Some boundaries a file are enough: files end at boundaries (see [[ValueDistribution.thinned]]), and a curve over several
 * columns needs fewer of each than there are files.
 */
object FrameBudget {

  /** Bytes for each file, before compression: with the file's interval at most 100 bytes after it. */
  private val OfFile = 96L

  /** Boundaries that are not stored, since there are too few files: they only put rows in order inside of these. */
  private val OfFewFiles = 16L << 10

  /**
   * With fewer files of different intervals no boundaries are stored: the files' bounds tell as much, and OPTIMIZE rewrites all
   * of them at once.
   */
  val FewestFiles = 4

  /** Of one unit, whatever the number of its files. */
  val Most: Long = 8L << 20

  /** However long they are. */
  private val FewestValues = 8

  /** Bytes for the boundaries of so many files. */
  def of(files: Int): Long = if (files < FewestFiles) OfFewFiles else math.min(OfFile * files, Most)

  /**
   * The same columns, those that are too large with fewer values. They share what those leave that need less.
   *
   * @param files that the rows will be cut into, about
   */
  def fit(distributions: IndexedSeq[ValueDistribution], bytes: Long, files: Int): IndexedSeq[ValueDistribution] = {
    val sizes = distributions.map(FrameBytes.size)
    var left = bytes
    val shares = sizes.indices.sortBy(sizes).zipWithIndex.map { case (c, rank) =>
      val share = math.min(sizes(c), left / (sizes.length - rank))
      left -= share
      c -> share
    }.toMap
    distributions.indices.map(c => fit(distributions(c), sizes(c), shares(c), files))
  }

  private def fit(d: ValueDistribution, size: Long, bytes: Long, files: Int): ValueDistribution = {
    def most(n: Double) = math.max(FewestValues, math.min(d.distinct.toDouble, n).toInt)
    var found = d
    // Boundaries are shorter than values, by how much is seen when they are made.
    var values = most(d.distinct.toDouble * bytes / math.max(1L, size))
    if (size > bytes) {
      found = d.thinned(values, files)
      values = most(values.toDouble * bytes / FrameBytes.size(found))
      found = d.thinned(values, files)
    }
    while (FrameBytes.size(found) > bytes && values > FewestValues) {
      values = most(values * 0.9)
      found = d.thinned(values, files)
    }
    found
  }
}
