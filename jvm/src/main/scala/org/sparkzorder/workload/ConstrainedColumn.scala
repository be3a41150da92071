package org.sparkzorder.workload

import org.sparkzorder.layout.{BytesDistribution, LongDistribution, QueryDensity, ValueDistribution}

/**
 * A column of a sample, and the places of its values on the axis that queries were recorded on.
 *
 * @param path its names
 * @param values the sampled distribution
 * @param ofRow ordinal of the sampled value of each row, -1 for null
 * @param ranks of the sampled values, ascending, from 0 to 1
 */
final class ConstrainedColumn(
    val path: Seq[String],
    val values: ValueDistribution,
    val ofRow: Array[Int],
    ranks: Array[Double]
) {

  /**
   * Recorded positions as a measure of the sampled values: what lies in a step is shared by the values of the step as
   * their rows are; where it has none, the nearest value has it.
   */
  def measure(positions: Positions): Array[Double] = {
    val measure = new Array[Double](values.distinct)
    if (measure.nonEmpty)
      positions.bins.foreach { bin =>
        val from = first(bin.toDouble / Positions.Bins)
        val until = if (bin == Positions.Bins - 1) measure.length else first((bin + 1d) / Positions.Bins)
        val rows = values.countBetween(from, until)
        if (rows > 0)
          (from until until).foreach(i => measure(i) += positions.count(bin).toDouble * values.count(i) / rows)
        else measure(nearest((bin + 0.5) / Positions.Bins, from)) += positions.count(bin).toDouble
      }
    measure
  }

  /** The first value at or above a rank. */
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

  /** The sampled values, encoded, ascending. */
  def valuesOf(d: ValueDistribution): Seq[Any] = d match {
    case l: LongDistribution  => l.values.toSeq
    case b: BytesDistribution => b.values.toSeq
  }

  /**
   * How often queries of all kinds ask for each sampled value: for one value as one, for one of a list by its share of
   * the list, for a range by half of one for each of its ends, or by one for its only end.
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

  /** The distribution with so much of its room given to what queries ask for. */
  def mixed(column: ConstrainedColumn, sketch: WorkloadSketch, share: Double): ValueDistribution =
    QueryDensity.mixed(column.values, queries(column, sketch), share)
}
