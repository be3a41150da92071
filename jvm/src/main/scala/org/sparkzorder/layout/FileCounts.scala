package org.sparkzorder.layout

import scala.annotation.tailrec

/**
 * How many files each rewrite unit is written to. A unit is rewritten as a whole: it is a partition, or a part of one.
 */
object FileCounts {

  /** For each unit round(bytes / target), but at least one. */
  def bySize(bytes: Seq[Long], targetBytes: Long): Seq[Int] = {
    require(targetBytes > 0, s"target file size must be positive, got $targetBytes")
    bytes.map { b =>
      val files = b / targetBytes + (if (b % targetBytes >= targetBytes - b % targetBytes) 1 else 0)
      math.min(math.max(files, 1L), Int.MaxValue.toLong).toInt
    }
  }

  /**
   * Shares `numFiles` among the units in proportion to their bytes. Each unit gets at least one file, also if there are
   * fewer files than units. A unit whose share is less than one file gets one. The others share the rest by largest
   * remainder, and of two equal remainders the earlier unit wins.
   *
   * For example, units of 70, 20, 9 and 1 bytes share 10 files. The last two get one file each. The first two share 8
   * files as 6.2 to 1.8, so they get 6 and 2.
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
