package org.sparkzorder.layout

import scala.annotation.tailrec
import scala.collection.mutable.ArrayBuffer

/**
 * Cuts where the curve leaves a cell, so that files are boxes: see "Cuts" in docs/design/layout.md. A cut is the first
 * value of the cell behind a border, not the sampled value. In Z-order and on the Hilbert curve, all points whose
 * values share a prefix form a box, so this works for both.
 *
 * If k rows are sampled for a file of the target size, the size s of a file is estimated with a standard deviation of
 * sqrt(s / k). So the window of 0.5 to 1.5 targets ends 1.6 deviations earlier. It begins only half a deviation later:
 * a file that ends inside of a cell leaves half of the cell, and so the next file can end at its border again.
 */
object AlignedCuts {

  /** The number of files may differ from the number asked for by this share of it. */
  val CountTolerance = 0.25

  /** One in eighteen files of 1.5 times the target is estimated smaller than 1.5 less this many deviations. */
  private val Deviations = 1.6

  /**
   * The window is narrowed when the number of files is wrong by this share. With few files one file is a large share.
   */
  private def countPressure(n: Int): Double = math.min(0.235, math.max(0.2, CountTolerance - 1.0 / n))

  /**
   * @param sample keys in ascending order, equal keys allowed
   * @param n how many files are wanted
   * @param coarseness how coarse the border between two values is, by their highest differing bit; larger is coarser
   * @return cuts for n files within 25 %, or [[Cuts.equal]] when cells do not allow that
   */
  def of(sample: IndexedSeq[(Long, Long)], n: Int, coarseness: Long => Long = identity): Cuts = {
    require(n >= 1, s"number of files must be positive, got $n")
    // With fewer than two sampled rows for each file, the sample says nothing about cells.
    if (n == 1 || sample.length < 2 * n) Cuts.equal(sample, n)
    else {
      val cuts = new Pass(sample, n, coarseness).cuts
      if (math.abs(cuts.slots - n) <= CountTolerance * n) cuts else Cuts.equal(sample, n)
    }
  }

  /** The least and the most size of a file, in targets. */
  private final case class Window(least: Double, most: Double)

  private final class Pass(sample: IndexedSeq[(Long, Long)], n: Int, coarseness: Long => Long) {
    private val rows = sample.length
    private val target = rows.toDouble / n
    private val keys = new ArrayBuffer[(Long, Long)]
    private val pressure = countPressure(n)
    private val narrowest = math.min(0.6, 0.5 + 0.5 * math.sqrt(0.5 / target))
    private val widest = math.max(1.2, 1.5 - Deviations * math.sqrt(1.5 / target))

    def cuts: Cuts = {
      go(0)
      Cuts.at(keys.toVector)
    }

    @tailrec private def go(start: Int): Unit = {
      val left = rows - start
      if (left > 1.5 * target) {
        val size = window(left)
        // The rows behind the cut must be enough for a file.
        val from = start + math.max(1, math.ceil(size.least * target).toInt)
        val to =
          math.min(start + math.floor(size.most * target).toInt, rows - math.max(1, math.ceil(0.5 * target).toInt))
        val cut = border(start, from, to).orElse(tie(start))
        cut match {
          case Some(next) => go(next)
          case None       => () // All rows that are left have the same key.
        }
      }
    }

    /** The sizes that the next file may have. They are limited when there are too many or too few files so far. */
    private def window(left: Int): Window = {
      val files = left / target
      val most = n * (1 + pressure) - keys.length
      val fewest = n * (1 - pressure) - keys.length
      if (files > most) Window(0.82, widest)
      else if (files < fewest) Window(narrowest, math.min(1.3, widest))
      else Window(narrowest, widest)
    }

    /** Cuts at the coarsest border in front of one of the rows `from` to `to`. */
    private def border(start: Int, from: Int, to: Int): Option[Int] = {
      // The rows that are left, shared equally by the files that are left: after a large file the
      // next ones are smaller.
      val share = (rows - start).toDouble / math.max(1, n - keys.length)
      val wanted = start + math.max(0.75 * target, math.min(1.25 * target, share))
      var best = -1
      var coarsest = Long.MinValue
      var i = from
      while (i <= to) {
        val differing = sample(i - 1)._1 ^ sample(i)._1
        if (differing != 0) {
          val coarse = coarseness(java.lang.Long.highestOneBit(differing))
          if (coarse > coarsest || (coarse == coarsest && math.abs(i - wanted) < math.abs(best - wanted))) {
            best = i
            coarsest = coarse
          }
        }
        i += 1
      }
      if (best < 0) None
      else {
        val cell = java.lang.Long.highestOneBit(sample(best - 1)._1 ^ sample(best)._1)
        keys += ((sample(best)._1 & -cell, Long.MinValue))
        Some(best)
      }
    }

    /** Cuts inside of a value that fills the window, into parts of equal size up to its end. */
    private def tie(start: Int): Option[Int] = {
      val value = sample(math.min(start + math.floor(target).toInt, rows - 1))._1
      val end = firstAbove(value)
      val parts = math.max(2, math.round((end - start) / target).toInt)
      val wanted = start + math.max(1, math.round((end - start).toDouble / parts).toInt)
      // The first row at or after the wanted one whose key differs from that of the row before;
      // else the last one before it.
      val found = (wanted until end).find(i => sample(i - 1) != sample(i))
        .orElse((wanted - 1 until start by -1).find(i => sample(i - 1) != sample(i)))
        .orElse(if (end < rows) Some(end) else None)
      found.foreach(i => keys += sample(i))
      found
    }

    private def firstAbove(value: Long): Int = {
      var low = 0
      var high = rows
      while (low < high) {
        val middle = (low + high) >>> 1
        if (sample(middle)._1 <= value) low = middle + 1 else high = middle
      }
      low
    }
  }
}
