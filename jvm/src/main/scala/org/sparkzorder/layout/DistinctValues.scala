package org.sparkzorder.layout

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
