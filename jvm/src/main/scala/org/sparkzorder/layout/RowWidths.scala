package org.sparkzorder.layout

import org.sparkzorder.compat._

/**
 * How wide the rows of a unit are at each place, as a multiple of their mean width. Where widths
 * differ, files of equally many rows have different sizes. A sample that draws rows in proportion
 * to their widths has equally many rows for each byte, so cuts by that sample count bytes.
 */
final class RowWidths private (bins: Cuts, factors: Array[Double]) extends Serializable {

  /** The width of rows at this place, in mean widths. */
  def of(z: Long, tie: Long): Double = factors(bins.slot(z, tie))
}

object RowWidths {

  /** Rows whose mean width is taken. */
  private val RowsOfBin = 16

  /**
   * How many times as much as by chance the means must differ: the F statistic of an analysis of
   * variance. By chance it is about 1, also where a few rows anywhere are very wide.
   */
  private val LeastF = 3d

  /** The least difference of a mean that counts. Without it files have 0.75 to 1.25 of their size. */
  private val Least = 0.25

  /**
   * None if rows are about equally wide at all places, as far as the sample tells.
   *
   * @param rows sampled rows by their keys, see [[Cuts]], with their widths in bytes; ascending by key
   */
  def of(rows: IndexedSeq[((Long, Long), Double)]): Option[RowWidths] = {
    val cuts = Cuts.equal(rows.map(_._1), math.max(1, rows.length / RowsOfBin))
    val bins = rows.groupBy { case ((z, tie), _) => cuts.slot(z, tie) }.toIndexedSeq.sortBy(_._1).map(_._2.map(_._2))
    val mean = rows.map(_._2).sum / math.max(1, rows.length)
    val means = bins.map(bin => bin.sum / bin.length)
    def squares(of: (Double, IndexedSeq[Double]) => Double) = means.zip(bins).map(of.tupled).sum
    val within = squares((m, bin) => bin.map(w => (w - m) * (w - m)).sum) / math.max(1, rows.length - bins.length)
    val between = squares((m, bin) => bin.length * (m - mean) * (m - mean)) / math.max(1, bins.length - 1)
    val differ = between > LeastF * within && means.exists(m => math.abs(m - mean) > Least * mean)
    Option.when(differ)(new RowWidths(cuts, means.map(_ / mean).toArray))
  }
}
