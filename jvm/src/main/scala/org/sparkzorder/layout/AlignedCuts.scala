package org.sparkzorder.layout

import scala.annotation.tailrec
import scala.collection.mutable.ArrayBuffer

/**
 * Cuts where the curve leaves a cell, so that files are boxes: one stray row over a border would cost a file the whole
 * width of the neighbouring cell.
 *
 * One pass over the sample. A file may have 0.5 to 1.5 times the target; of the borders in that window the coarsest is
 * taken, of equally coarse ones the one nearest to the target. The border between two values of the curve is as coarse
 * as their highest differing bit, and the cut is the first value of the cell behind it, not the sampled one. The prefix
 * of a value of Z-order or of the Hilbert curve is a box, so this holds for both. In a sort, all borders between values
 * of one column are equally coarse.
 *
 * A file is as large as the sample says give or take: of k rows sampled for a file of the target's size, the size s of
 * one comes out with a standard deviation of sqrt(s / k). Where cells are of 1.56 times the target, as for 100 files by
 * powers of two, a fifth of them would pass for less than 1.5. So the window ends 1.6 deviations before that. It begins
 * half of one after 0.5, no later: a file that ends within a cell leaves half of one, which leads back to the borders.
 *
 * Where cells are a third smaller or larger than the target throughout, the number of files would be as far off. Then
 * the window is narrowed on the way, and a part of the files is cut at finer borders.
 *
 * A single value that fills the window has no border in it and is cut by ties into equal parts.
 */
object AlignedCuts {

  /** Of the number of files asked for, how far the number of files may be off. */
  val CountTolerance = 0.25

  /** Of files with 1.5 times the target, one in eighteen seems to have less than this many deviations fewer. */
  private val Deviations = 1.6

  /** From here on the window is narrowed; of few files, one is a large part. */
  private def countPressure(n: Int): Double = math.min(0.235, math.max(0.2, CountTolerance - 1.0 / n))

  /**
   * @param sample keys in ascending order, equal keys allowed
   * @param n files wanted
   * @param coarseness the larger the coarser, of the border between two values by their highest differing bit
   * @return cuts for n files within 25 %, or [[Cuts.equal]] when cells do not allow that
   */
  def of(sample: IndexedSeq[(Long, Long)], n: Int, coarseness: Long => Long = identity): Cuts = {
    require(n >= 1, s"number of files must be positive, got $n")
    // Two rows a file tell nothing of cells.
    if (n == 1 || sample.length < 2 * n) Cuts.equal(sample, n)
    else {
      val cuts = new Pass(sample, n, coarseness).cuts
      if (math.abs(cuts.slots - n) <= CountTolerance * n) cuts else Cuts.equal(sample, n)
    }
  }

  private final class Pass(sample: IndexedSeq[(Long, Long)], n: Int, coarseness: Long => Long) {
    private val rows = sample.length
    private val target = rows.toDouble / n
    private val keys = new ArrayBuffer[(Long, Long)]
    private val pressure = countPressure(n)
    private val narrowest = math.min(0.6, 0.5 + 0.5 * math.sqrt(0.5 / target))
    private val widest = math.max(1.2, 1.5 - Deviations * math.sqrt(1.5 / target))

    def cuts: Cuts = {
      go(0)
      Cuts.at(keys.toSeq)
    }

    @tailrec private def go(start: Int): Unit = {
      val left = rows - start
      if (left > 1.5 * target) {
        val (low, high) = window(left)
        // What is left behind the cut is a file at least.
        val from = start + math.max(1, math.ceil(low * target).toInt)
        val to = math.min(start + math.floor(high * target).toInt, rows - math.max(1, math.ceil(0.5 * target).toInt))
        val cut = border(start, from, to).orElse(tie(start))
        cut match {
          case Some(next) => go(next)
          case None       => () // All that is left is one key.
        }
      }
    }

    /** Narrower when files so far are many or few for the rows that they hold. */
    private def window(left: Int): (Double, Double) = {
      val files = left / target
      val most = n * (1 + pressure) - keys.length
      val fewest = n * (1 - pressure) - keys.length
      if (files > most) (0.82, widest)
      else if (files < fewest) (narrowest, math.min(1.3, widest)) else (narrowest, widest)
    }

    /** The coarsest border before one of the rows from..to, cut there. */
    private def border(start: Int, from: Int, to: Int): Option[Int] = {
      // What is left, shared by the files that are left, so that what one file has too much the next ones have less.
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

    /** Inside of a value that fills the window, parts of equal size up to its end. */
    private def tie(start: Int): Option[Int] = {
      val value = sample(math.min(start + math.floor(target).toInt, rows - 1))._1
      val end = firstAbove(value)
      val parts = math.max(2, math.round((end - start) / target).toInt)
      val wanted = start + math.max(1, math.round((end - start).toDouble / parts).toInt)
      // The first row with a key of its own at or after the one wanted, else before it.
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
