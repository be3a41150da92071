package org.sparkzorder.layout

/**
 * How many bytes the boundaries of a frame may have. They are stored as long as the table has a file of the frame, and
 * each change of the index writes them again, so their size is in proportion to the number of files. A few boundaries
 * for each file are enough, since files end at boundaries (see [[ValueDistribution.thinned]]).
 */
object FrameBudget {

  /** Bytes for each file, before compression. Compressed, and with the file's interval, they are at most 100. */
  private val BytesOfFile = 96L

  /** With very few files boundaries are not stored. They only order the rows inside of the files. */
  private val BytesOfFewFiles = 16L << 10

  /**
   * With fewer different intervals no boundaries are stored: the files' bounds say as much, and
   * OPTIMIZE rewrites all these files at once.
   */
  val FewestFiles = 4

  /** The most bytes of a unit, whatever the number of its files. */
  val Most: Long = 8L << 20

  /** A column keeps at least so many values, however long they are. */
  private val FewestValues = 8
  def of(files: Int): Long = if (files < FewestFiles) BytesOfFewFiles else math.min(BytesOfFile * files, Most)

  /**
   * The same distributions, but with fewer values in the columns that are too large. Each column
   * gets an equal share of the bytes, and columns that need less leave the rest to the others.
   *
   * @param files about how many files the rows will be cut into
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
    // Boundaries are shorter than values. By how much is only known after the first try.
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
