package org.sparkzorder.layout

import org.sparkzorder.compat._

/**
 * [[AlignedCuts]] with exactly as many parts as asked for. If cells give more, pairs of neighbours become one part, the
 * smallest first. If they give fewer, the largest parts are cut once more, at the coarsest border near their middle.
 * The ties of the sample need not be those of the rows, so a cut at the first sampled row of a value is moved in front
 * of all of them.
 */
object ExactCuts {

  /**
   * @param sample keys in ascending order, equal keys allowed
   * @param n how many parts are wanted
   * @param coarseness how coarse the border between two values is, by their highest differing bit; larger is coarser
   * @return cuts for n parts, or for fewer when the sample has fewer different keys
   */
  def of(sample: IndexedSeq[(Long, Long)], n: Int, coarseness: Long => Long = identity): Cuts = {
    val cuts = AlignedCuts.of(sample, n, coarseness)
    val exact =
      if (cuts.slots > n) merged(sample, cuts, cuts.slots - n)
      else if (cuts.slots < n) split(sample, cuts, n - cuts.slots, coarseness)
      else cuts
    beforeValues(sample, exact)
  }

  private def beforeValues(sample: IndexedSeq[(Long, Long)], cuts: Cuts): Cuts = {
    val at = starts(sample, cuts)
    Cuts.at(cuts.keys.zipWithIndex.map { case (key, i) =>
      val first = at(i + 1)
      if (sample(first) == key && sample(first - 1)._1 < key._1) (key._1, Long.MinValue) else key
    })
  }

  /** The index in the sample where each part begins, and in the end the size of the sample. */
  private def starts(sample: IndexedSeq[(Long, Long)], cuts: Cuts): IndexedSeq[Int] = {
    val counts = new Array[Int](cuts.slots)
    sample.foreach { case (z, tie) => counts(cuts.slot(z, tie)) += 1 }
    counts.scanLeft(0)(_ + _).toIndexedSeq
  }

  /**
   * Removes so many of the cuts, but never two in a row. That is always possible, since
   * [[AlignedCuts]] makes at most a quarter too many.
   */
  private def merged(sample: IndexedSeq[(Long, Long)], cuts: Cuts, surplus: Int): Cuts = {
    val at = starts(sample, cuts)
    val dropped = new Array[Boolean](cuts.slots + 1)
    var left = surplus
    // Cut i is between the parts i and i + 1.
    (0 until cuts.slots - 1).sortBy(i => at(i + 2) - at(i)).foreach { i =>
      if (left > 0 && !dropped(i + 1) && !(i > 0 && dropped(i - 1))) {
        dropped(i) = true
        left -= 1
      }
    }
    Cuts.at(cuts.keys.zipWithIndex.collect { case (key, i) if !dropped(i) => key })
  }

  private def split(sample: IndexedSeq[(Long, Long)], cuts: Cuts, missing: Int, coarseness: Long => Long): Cuts = {
    val at = starts(sample, cuts)
    val parts = (0 until cuts.slots).sortBy(i => at(i) - at(i + 1))
    val found = parts.iterator.flatMap(i => middle(sample, at(i), at(i + 1), coarseness)).take(missing).toVector
    Cuts.at((cuts.keys ++ found).sorted)
  }

  /**
   * The coarsest border in the middle half of some rows. Without any, the key nearest to the middle
   * that differs from the key before it.
   */
  private def middle(
      sample: IndexedSeq[(Long, Long)],
      from: Int,
      until: Int,
      coarseness: Long => Long
  ): Option[(Long, Long)] = {
    val quarter = (until - from) / 4
    def offCentre(i: Int): Int = math.abs(2 * i - from - until)
    def cell(i: Int): Long = java.lang.Long.highestOneBit(sample(i - 1)._1 ^ sample(i)._1)
    val borders = (from + math.max(1, quarter) until until - quarter).filter(cell(_) != 0)
    borders.minByOption(i => (-coarseness(cell(i)), offCentre(i))) match {
      case Some(i) => Some((sample(i)._1 & -cell(i), Long.MinValue))
      case None    => (from + 1 until until).filter(i => sample(i - 1) != sample(i)).minByOption(offCentre).map(sample)
    }
  }
}
