package org.sparkzorder.layout

/** How many distinct values a column has, and what follows of it. */
object DistinctValues {

  /**
   * Chao's estimate (Nonparametric estimation of the number of classes in a population, 1984): the sampled values and
   * f1² / 2 f2, of the f1 values that were sampled once and the f2 that were sampled twice. No more than there are rows.
   * Where values are not equally frequent it tells too few, not too many.
   *
   * @param rows of which the sample is one, nulls among them
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
   * Whether a Bloom filter of the column pays: a value has fewer rows than a lookup of it has files to read at best, so
   * most of those files hold it within their bounds only.
   *
   * @param files that the rows are cut into
   * @param columns of the layout
   */
  def wantBloomFilter(sample: ValueDistribution, rows: Long, files: Int, columns: Int): Boolean = {
    val distinct = estimate(sample, rows)
    distinct > 0 && notNull(sample, rows) / distinct < ClusteringDepth.bound(files.toLong, columns)
  }

  private def notNull(sample: ValueDistribution, rows: Long): Double =
    rows.toDouble * (sample.total - sample.nulls) / sample.total
}
