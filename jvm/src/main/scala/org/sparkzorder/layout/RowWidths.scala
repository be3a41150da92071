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

  /** The same in mean widths of these rows, which are evenly sampled: those with widths may be of some places only. */
  def relativeTo(keys: IndexedSeq[(Long, Long)]): RowWidths = {
    val mean = if (keys.isEmpty) 1d else keys.map { case (z, tie) => of(z, tie) }.sum / keys.length
    new RowWidths(bins, factors.map(_ / mean))
  }
}

object RowWidths {

  /** Rows whose mean width is taken: the fewest for which means differ. */
  private val RowsOfBin = Seq(16, 64, 256)

  /** So many standard deviations of the F statistic count as more than chance. */
  private val Deviations = 6d

  /** The least difference of a mean that counts. Without it files have 0.75 to 1.25 of their size. */
  private val Least = 0.25

  /**
   * None if rows are about equally wide at all places, as far as the sample tells. An analysis of variance tells: the F
   * statistic is about 1 where wide rows may be anywhere, and its variance 2 by the number of means.
   *
   * @param rows sampled rows by their keys, see [[Cuts]], with their widths in bytes; ascending by key
   */
  def of(rows: IndexedSeq[((Long, Long), Double)]): Option[RowWidths] =
    RowsOfBin.iterator.flatMap(ofBins(rows, _)).nextOption()

  private def ofBins(rows: IndexedSeq[((Long, Long), Double)], size: Int): Option[RowWidths] = {
    val cuts = Cuts.equal(rows.map(_._1), math.max(1, rows.length / size))
    val bins = rows.groupBy { case ((z, tie), _) => cuts.slot(z, tie) }.toIndexedSeq.sortBy(_._1).map(_._2.map(_._2))
    val mean = rows.map(_._2).sum / math.max(1, rows.length)
    val means = bins.map(bin => bin.sum / bin.length)
    def squares(of: (Double, IndexedSeq[Double]) => Double) = means.zip(bins).map(of.tupled).sum
    val within = squares((m, bin) => bin.map(w => (w - m) * (w - m)).sum) / math.max(1, rows.length - bins.length)
    val between = squares((m, bin) => bin.length * (m - mean) * (m - mean)) / math.max(1, bins.length - 1)
    val chance = 1 + Deviations * math.sqrt(2d / math.max(1, bins.length - 1))
    val differ = between > chance * within && means.exists(m => math.abs(m - mean) > Least * mean)
    Option.when(differ)(new RowWidths(cuts, means.map(_ / mean).toArray))
  }
}
