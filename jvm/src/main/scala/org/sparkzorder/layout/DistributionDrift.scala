package org.sparkzorder.layout

import org.sparkzorder.compat._

/**
 * How far the values of new rows are from the boundaries by which these rows are to be placed.
 *
 * @param distance the distance of Kolmogorov and Smirnov between the new values and those that the
 *   boundaries were made of. It is 0 when both have the same distribution, and 1 when all new
 *   values are above, or all are below. The greatest distance of all columns counts.
 * @param beyond the share of new rows that are before the least or behind the greatest boundary of
 *   some column: the boundaries cannot tell these rows apart
 */
final case class DistributionDrift(distance: Double, beyond: Double) {

  def fits: Boolean = beyond <= DistributionDrift.MostBeyond
}

object DistributionDrift {

  val MostBeyond = 0.5

  /** @param places for each new row, the places of its values, one for each column */
  def of(distributions: IndexedSeq[ValueDistribution], places: IndexedSeq[IndexedSeq[Int]]): DistributionDrift =
    if (places.isEmpty) DistributionDrift(0, 0)
    else {
      val outside = places.count(row => row.indices.exists(c => isBeyond(distributions(c), row(c))))
      val distances = distributions.indices.map(c => distance(distributions(c), places.map(_(c)).sorted))
      DistributionDrift(distances.maxOption.getOrElse(0d), outside.toDouble / places.length)
    }

  private def isBeyond(d: ValueDistribution, place: Int): Boolean = place == 1 || (place > 0 && place == d.places - 1)

  private def distance(d: ValueDistribution, sorted: IndexedSeq[Int]): Double = {
    // Compares the shares of rows up to a place, for each place of a new row, and for the place right before it.
    def known(place: Int): Double =
      if (d.total == 0 || place < 0) 0d else (d.nulls + d.countBetween(0, place / 2)).toDouble / d.total
    var most = 0d
    var i = 0
    while (i < sorted.length) {
      val place = sorted(i)
      val before = i
      while (i < sorted.length && sorted(i) == place) i += 1
      most = math.max(most, math.abs(i.toDouble / sorted.length - known(place)))
      most = math.max(most, math.abs(before.toDouble / sorted.length - (if (place == 0) 0d else known(place - 1))))
    }
    most
  }
}

/** How many distinct values a column has, and whether it should have a Bloom filter. */
object DistinctValues {

  /**
   * Chao's estimate (Nonparametric estimation of the number of classes in a population, 1984): the number of sampled
   * values plus f1² / 2 f2, for f1 values that were sampled once and f2 that were sampled twice. It is never more than
   * the number of rows. If values are not equally frequent, it is too low rather than too high.
   *
   * @param rows how many rows the sample was drawn from, nulls included
   */
  def estimate(sample: ValueDistribution, rows: Long): Double =
    if (sample.total == 0) 0d
    else {
      val once = (0 until sample.distinct).count(sample.count(_) == 1).toDouble
      val twice = (0 until sample.distinct).count(sample.count(_) == 2)
      val unseen = if (twice > 0) once * once / (2d * twice) else once * (once - 1) / 2
      val known = if (sample.total >= rows) 0d else unseen
      math.min(sample.distinct + known, math.max(notNull(sample, rows), sample.distinct.toDouble))
    }

  /**
   * Whether a Bloom filter of the column is worth its bytes. It is if a value has fewer rows than a lookup of the value
   * reads files at best: then most of these files do not have the value, although it is within their bounds.
   *
   * @param files how many files the rows are cut into
   * @param columns how many columns the layout has
   */
  def wantBloomFilter(sample: ValueDistribution, rows: Long, files: Int, columns: Int): Boolean = {
    val distinct = estimate(sample, rows)
    distinct > 0 && notNull(sample, rows) / distinct < ClusteringDepth.bound(files.toLong, columns)
  }

  private def notNull(sample: ValueDistribution, rows: Long): Double =
    rows.toDouble * (sample.total - sample.nulls) / sample.total
}
