package org.sparkzorder.layout

import scala.annotation.tailrec

/**
 * How many files each rewrite unit is written to. A unit is what is rewritten together: a partition, or a part of one.
 */
object FileCounts {

  /** round(bytes / target) of each unit, at least one. */
  def bySize(bytes: Seq[Long], targetBytes: Long): Seq[Int] = {
    require(targetBytes > 0, s"target file size must be positive, got $targetBytes")
    bytes.map { b =>
      val files = b / targetBytes + (if (b % targetBytes >= targetBytes - b % targetBytes) 1 else 0)
      math.min(math.max(files, 1L), Int.MaxValue.toLong).toInt
    }
  }

  /**
   * `numFiles` shared among the units in proportion to their bytes, at least one each: with fewer files than units,
   * each unit
   * has one. A unit whose share is below one file gets its one, and the others share what is left by largest
   * remainder, ties
   * to the earlier unit. 10 files for 70, 20, 9 and 1 bytes: the last two get one each, the first two share 8 as 6.2 :
   * 1.8.
   */
  def byNumber(bytes: Seq[Long], numFiles: Int): Seq[Int] = {
    require(numFiles > 0, s"number of files must be positive, got $numFiles")
    val sizes = bytes.map(b => BigInt(math.max(b, 0L)))
    val weights = if (sizes.forall(_ == 0)) sizes.map(_ => BigInt(1)) else sizes
    val counts = Array.fill(bytes.length)(1)

    @tailrec def share(open: Seq[Int], files: Int): Unit = {
      val total = open.map(weights).sum
      val (small, large) = open.partition(i => weights(i) * files < total)
      if (small.nonEmpty) share(large, files - small.length)
      else {
        open.foreach(i => counts(i) = (weights(i) * files / total).toInt)
        val left = files - open.map(counts(_)).sum
        open.sortBy(i => -(weights(i) * files % total)).take(left).foreach(counts(_) += 1)
      }
    }
    if (numFiles > bytes.length && bytes.nonEmpty) share(bytes.indices, numFiles)
    counts.toSeq
  }
}
