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

/**
 * Decides where files of at most so many rows end, while rows come in the order of the curve and their number is not
 * known yet. Files end at coarse borders, so that they are boxes, and a value is in one file if it fits.
 *
 * In the first half of a file's rows the coarsest border is noted. The file ends at a coarser one before it is full,
 * else at a border between two values if the next value might not fit, by the largest value so far. A value with more
 * rows is cut where the file is full. Not safe for use by several threads.
 *
 * @param most the most rows of a file
 * @param coarseness how coarse the border between two values is, by their highest differing bit; larger is coarser
 */
final class RowLimit(most: Long, coarseness: Long => Long) {
  require(most >= 1, s"a file has a row at least, got $most")

  private val half = most / 2
  private var rows = 0L
  private var coarsest = Long.MinValue
  private var last = 0L
  private var rowsOfValue = 0L
  private var rowsOfLargest = 1L

  /**
   * Whether the next row begins a new file. To be called once for each row.
   *
   * @param z the row's value of the curve, at least that of the row before
   */
  def beginsFile(z: Long): Boolean = {
    val differing = java.lang.Long.highestOneBit(z ^ last)
    if (differing != 0) {
      // Very large values are left out: they will be cut anyway, and say nothing about the others.
      if (rowsOfValue <= most / 16) rowsOfLargest = math.max(rowsOfLargest, rowsOfValue)
      rowsOfValue = 0
    }
    val border = if (rows == 0 || differing == 0) Long.MinValue else coarseness(differing)
    val nearlyFull = rows + rowsOfLargest + rowsOfLargest / 4 > most
    val begins = rows >= most || (rows > half && (border > coarsest || (nearlyFull && differing != 0)))
    if (begins) {
      rows = 0
      coarsest = Long.MinValue
    } else if (rows <= half) coarsest = math.max(coarsest, border)
    rows += 1
    rowsOfValue += 1
    last = z
    begins
  }
}
