package org.sparkzorder.workload

import org.sparkzorder.layout.{BytesDistribution, FileBounds, LongDistribution, QueryDensity, ValueDistribution}
import org.sparkzorder.stats.OrderedValue

/**
 * A column of a sample, with the ranks of its values on the axis that queries were recorded with.
 *
 * @param path its names, from the top-level column down
 * @param values the distribution of the sampled values
 * @param ofRow for each sampled row, the ordinal of its value; -1 for null
 * @param ranks the ranks of the sampled values from 0 to 1, ascending
 * @param holding the share of the files that a lookup of one value reads at most, wherever its rows are: less than 1
 *   where the index has the values of each file, and a value has fewer rows than there are files
 */
final class ConstrainedColumn(
    val path: Seq[String],
    val values: ValueDistribution,
    val ofRow: Array[Int],
    ranks: Array[Double],
    val holding: Double = 1d
) {

  def withHolding(share: Double): ConstrainedColumn = new ConstrainedColumn(path, values, ofRow, ranks, share)

  /**
   * Shares recorded positions among the sampled values. The count of a step goes to the values in this step, in
   * proportion to their rows. If no value is in the step, the nearest value gets the count.
   */
  def measure(positions: RankCounts): Array[Double] = {
    val measure = new Array[Double](values.distinct)
    if (measure.nonEmpty)
      positions.bins.foreach { bin =>
        val from = first(bin.toDouble / RankCounts.Bins)
        val until = if (bin == RankCounts.Bins - 1) measure.length else first((bin + 1d) / RankCounts.Bins)
        val rows = values.countBetween(from, until)
        if (rows > 0)
          (from until until).foreach(i => measure(i) += positions.count(bin).toDouble * values.count(i) / rows)
        else measure(nearest((bin + 0.5) / RankCounts.Bins, from)) += positions.count(bin).toDouble
      }
    measure
  }

  /**
   * The ordinals of the least and the greatest sampled value within bounds. If there is none, both are that of the
   * value next to them. (-1, -1) for a file without a value.
   */
  def ordinals(bounds: FileBounds): (Int, Int) = bounds match {
    case FileBounds.AllNull         => (-1, -1)
    case FileBounds.Unknown         => (if (values.distinct == 0) -1 else 0, values.distinct - 1)
    case FileBounds.Longs(min, max) => between(min, max)
    case FileBounds.Bytes(min, max) => between(min, max)
    // NaN comes right after the greatest number.
    case FileBounds.LongsOrNaN(numbers, _) => between(numbers.fold(ConstrainedColumn.NaN)(_.min), ConstrainedColumn.NaN)
  }

  private def between(min: Any, max: Any): (Int, Int) = {
    // A value that was sampled has an even place. Between two of them there is an odd one.
    val low = math.min((ConstrainedColumn.placeOf(values, min) + 1) / 2 - 1, values.distinct - 1)
    val high = math.max(ConstrainedColumn.placeOf(values, max) / 2 - 1, 0)
    if (values.distinct == 0) (-1, -1) else if (low <= high) (low, high) else (high, high)
  }

  /** The ordinal of the first value at or above a rank. */
  private def first(rank: Double): Int = {
    val found = java.util.Arrays.binarySearch(ranks, rank)
    if (found < 0) -found - 1
    else Iterator.iterate(found)(_ - 1).dropWhile(i => i > 0 && ranks(i - 1) == rank).next()
  }

  private def nearest(rank: Double, above: Int): Int =
    if (above == 0) 0
    else if (above == ranks.length) above - 1
    else if (rank - ranks(above - 1) < ranks(above) - rank) above - 1
    else above
}

object ConstrainedColumn {
  private val NaN = OrderedValue.ofDouble(Double.NaN)

  def placeOf(d: ValueDistribution, value: Any): Int = (d, value) match {
    case (l: LongDistribution, v: Long)         => l.place(v)
    case (b: BytesDistribution, v: Array[Byte]) => b.place(v)
    case (_, v) => throw new IllegalArgumentException(s"not a value of the column: ${v.getClass.getName}")
  }

  def valuesOf(d: ValueDistribution): Seq[Any] = d match {
    case l: LongDistribution  => l.values.toSeq
    case b: BytesDistribution => b.values.toSeq
  }

  /**
   * How often queries of all kinds ask for each sampled value. A query counts as one in all: its values share this one,
   * and so do the two ends of a range.
   */
  def queries(column: ConstrainedColumn, sketch: WorkloadSketch): Array[Double] = {
    val all = new Array[Double](column.values.distinct)
    for {
      (kind, of) <- sketch.kinds
      (use, where) <- kind.zip(of.uses) if use.path == column.path
      positions = Seq(where.starts, where.ends).filterNot(_.isEmpty)
      total = positions.map(_.total).sum
      p <- positions
      (n, i) <- column.measure(p).zipWithIndex
    } all(i) += n * of.queries / total
    all
  }

  /** The column's distribution, with `share` of its room given to values by how often queries ask for them. */
  def mixed(column: ConstrainedColumn, sketch: WorkloadSketch, share: Double): ValueDistribution =
    QueryDensity.mixed(column.values, queries(column, sketch), share)
}
