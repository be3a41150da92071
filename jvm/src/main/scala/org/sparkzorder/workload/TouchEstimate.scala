package org.sparkzorder.workload

/**
 * Values that a file may hold, as ordinals of a sample's values.
 *
 * @param low for each column, the least value of each file; -1 where the file has none
 * @param high for each column, the greatest value of each file; -1 where the file has none
 */
final class SampledBounds(val files: Int, val low: IndexedSeq[Array[Int]], val high: IndexedSeq[Array[Int]])

/**
 * Estimates which files the recorded queries touch. Queries are recorded column by column. So if a query names values
 * for several columns, these are taken to be independent.
 *
 * @param columns the columns that queries ask for; what they ask for other columns is ignored
 */
final class TouchEstimate(columns: IndexedSeq[ConstrainedColumn], sketch: WorkloadSketch) {
  private val byPath = columns.zipWithIndex.map { case (c, i) => c.path -> i }.toMap

  private val kinds: Seq[(Double, Seq[Probability])] =
    sketch.only(u => byPath.contains(u.path)).ranked.map { case (kind, of) =>
      of.queries.toDouble -> kind.zip(of.uses).map { case (use, where) =>
        val c = byPath(use.path)
        new Probability(c, use.form, of.queries, columns(c).measure(where.starts), columns(c).measure(where.ends))
      }
    }

  /** How many queries the estimate is based on. */
  val queries: Double = kinds.map(_._1).sum

  /**
   * The mean share of the files that a query touches, from 0 to 1.
   *
   * @param weight of each file, such as its bytes
   */
  def touched(bounds: SampledBounds, weight: Int => Double): Double = {
    val all = (0 until bounds.files).map(weight).sum
    val sum = kinds.map { case (n, uses) =>
      var touched = 0d
      var file = 0
      while (file < bounds.files) {
        touched += weight(file) *
          uses.foldLeft(1d)((p, u) => p * u.of(bounds.low(u.column)(file), bounds.high(u.column)(file)))
        file += 1
      }
      n * touched
    }.sum
    if (all == 0 || queries == 0) 0d else sum / queries / all
  }

  /** The probability that a query of one kind touches a file, as far as one column decides it. */
  private final class Probability(
      val column: Int,
      form: Form,
      queries: Long,
      starts: Array[Double],
      ends: Array[Double]
  ) {
    private val startsBelow = starts.scanLeft(0d)(_ + _)
    private val endsBelow = ends.scanLeft(0d)(_ + _)

    /**
     * @param low the least value of the file, -1 for none
     * @param high the greatest value of the file
     */
    def of(low: Int, high: Int): Double =
      if (low < 0) 0d
      else form match {
        // A range misses the file if it ends below the file's values, or begins above them. Both at once is impossible.
        case Form.Range =>
          val below = endsBelow(low)
          val above = startsBelow.last - startsBelow(high + 1)
          math.max(0d, 1 - (below + above) / queries)
        case _ =>
          val all = startsBelow.last
          val (one, values) =
            if (all == 0) (1d, 1d) else ((startsBelow(high + 1) - startsBelow(low)) / all, all / queries)
          1 - math.pow(1 - math.min(one, columns(column).holding), values)
      }
  }
}
