package org.sparkzorder.layout

/**
 * Where the files of a rewrite unit begin. File i > 0 begins at the i-th key. A key is a value of
 * the curve and a tie. The tie differs from row to row, so that the rows of one value can be cut
 * into several files. Keys are strictly increasing.
 */
final class Cuts private (private val zs: Array[Long], private val ties: Array[Long]) extends Serializable {

  /** The number of files: one more than there are cuts. */
  def slots: Int = zs.length + 1

  def keys: IndexedSeq[(Long, Long)] = zs.toIndexedSeq.zip(ties)

  /** The file that a row goes to, from 0 until `slots`. It is monotone in (z, tie). */
  def slot(z: Long, tie: Long): Int = {
    var low = 0
    var high = zs.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (zs(middle) < z || (zs(middle) == z && ties(middle) <= tie)) low = middle + 1 else high = middle
    }
    low
  }
}

object Cuts {
  val none: Cuts = new Cuts(Array.emptyLongArray, Array.emptyLongArray)

  /**
   * Cuts at the sample's quantiles, for `n` files, or for fewer if the sample has fewer different keys. Every file has
   * at least one sampled row, so none is empty. A cut at the first sampled row of a value is moved in front of all rows
   * of the value, so that rows that were not sampled are on the same side.
   *
   * @param sample keys in ascending order, equal keys allowed
   */
  def equal(sample: IndexedSeq[(Long, Long)], n: Int): Cuts = {
    require(n >= 1, s"number of files must be positive, got $n")
    val starts = sample.indices.filter(i => i == 0 || sample(i - 1) != sample(i)).toArray
    val files = math.min(n, starts.length)
    if (files <= 1) none
    else {
      // A cut may be at starts(1), starts(2), and so on. Each cut takes the one nearest to its
      // quantile that leaves enough of them for the cuts after it.
      var previous = 0
      val chosen = Array.tabulate(files - 1) { i =>
        val quantile = (i + 1).toDouble * sample.length / files
        val last = starts.length - files + i + 1
        val found = java.util.Arrays.binarySearch(starts, math.ceil(quantile).toInt)
        val above = if (found >= 0) found else -found - 1
        val nearest =
          if (above >= starts.length) above - 1
          else if (above > 0 && quantile - starts(above - 1) < starts(above) - quantile) above - 1
          else above
        previous = math.min(math.max(nearest, previous + 1), last)
        val first = starts(previous)
        if (sample(first - 1)._1 < sample(first)._1) (sample(first)._1, Long.MinValue) else sample(first)
      }
      new Cuts(chosen.map(_._1), chosen.map(_._2))
    }
  }

  def at(keys: Seq[(Long, Long)]): Cuts = {
    val pairs = keys.toArray
    pairs.indices.drop(1).foreach { i =>
      val (z, tie) = pairs(i - 1)
      val increases = z < pairs(i)._1 || (z == pairs(i)._1 && tie < pairs(i)._2)
      require(increases, s"cut keys must increase: ${pairs(i - 1)}, ${pairs(i)}")
    }
    new Cuts(pairs.map(_._1), pairs.map(_._2))
  }
}
