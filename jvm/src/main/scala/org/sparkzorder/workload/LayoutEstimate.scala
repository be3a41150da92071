package org.sparkzorder.workload

import org.sparkzorder.layout._

/** A layout to be tried: one of the curves of [[LayoutSpec]], and the key columns with their weights. */
final case class Trial(curve: String, columns: Seq[(ConstrainedColumn, Double)])

/**
 * Estimates which share of the files the recorded queries would touch. It lays out the sample as the table would be
 * laid out, and takes the bounds of each file from its sampled rows.
 *
 * @param columns the columns that queries ask for; what they ask for other columns is ignored
 * @param files how many files the sample is cut into
 * @param aligned whether files end where the curve leaves a cell
 * @param share the share of the curve that is given to values by how often queries ask for them, see [[QueryDensity]]
 */
final class LayoutEstimate(
    columns: IndexedSeq[ConstrainedColumn],
    sketch: WorkloadSketch,
    files: Int,
    aligned: Boolean,
    val share: Double
) {
  private val rows = columns.head.ofRow.length
  private val byPath = columns.zipWithIndex.map { case (c, i) => c.path -> i }.toMap
  private val room: IndexedSeq[ValueDistribution] = columns.map(ConstrainedColumn.mixed(_, sketch, share))

  private val ofQueries = new TouchEstimate(columns, sketch)

  def queries: Double = ofQueries.queries

  /**
   * The mean share of the files that a query touches, from 0 to 1. By chance there may be a few more or fewer files
   * than asked for. With F files and D columns the share goes with F^(-1/D), so it is converted to the number asked
   * for.
   */
  def touched(trial: Trial): Double = {
    val found = filesOf(trial)
    val share = ofQueries.touched(found, _ => 1d)
    math.min(1d, share * math.pow(found.files.toDouble / files, 1d / trial.columns.length))
  }

  private def filesOf(trial: Trial): SampledBounds = {
    val shape = LayoutShape(trial.curve, aligned)
    val keys = trial.columns.map { case (c, _) => byPath(c.path) }.toIndexedSeq
    val curve = shape.curveOf(trial.columns.map(_._2), keys.map(room), files)
    val zs = valuesOf(curve, keys)
    val cuts = shape.cutsOf(zs.indices.map(i => (zs(i), i.toLong)).sorted, files, curve)
    boundsOf(zs, cuts)
  }

  private def valuesOf(curve: Curve, keys: IndexedSeq[Int]): Array[Long] = {
    // At 0 the part of null, then that of each sampled value.
    val parts = keys.indices.map { k =>
      val d = room(keys(k))
      Array.tabulate(d.distinct + 1)(i => curve.spread(k, d.id(2 * i, curve.bits(k))))
    }
    Array.tabulate(rows) { row =>
      var z = 0L
      var k = 0
      while (k < keys.length) {
        z |= parts(k)(columns(keys(k)).ofRow(row) + 1)
        k += 1
      }
      curve.value(z)
    }
  }

  private def boundsOf(zs: Array[Long], cuts: Cuts): SampledBounds = {
    val low = columns.map(_ => Array.fill(cuts.slots)(-1))
    val high = columns.map(_ => Array.fill(cuts.slots)(-1))
    zs.indices.foreach { row =>
      val slot = cuts.slot(zs(row), row.toLong)
      var c = 0
      while (c < columns.length) {
        val v = columns(c).ofRow(row)
        if (v >= 0) {
          if (low(c)(slot) < 0 || v < low(c)(slot)) low(c)(slot) = v
          if (v > high(c)(slot)) high(c)(slot) = v
        }
        c += 1
      }
    }
    new SampledBounds(cuts.slots, low, high)
  }
}

/** For each column and file the least and the greatest value, as ordinals of a sample's; -1 where the file has none. */
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

    /** By the ordinals of the least and the greatest value of the file, -1 for none. */
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
