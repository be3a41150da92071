package org.sparkzorder.workload

import org.sparkzorder.layout._

/**
 * A layout to be tried.
 *
 * @param curve one of the curves of [[LayoutSpec]]
 * @param columns the key columns with their weights, the leading one first
 */
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

  /** How many queries the estimate is based on. */
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

  /** The files that the sample is cut into. */
  private def filesOf(trial: Trial): SampledBounds = {
    val shape = LayoutShape(trial.curve, aligned)
    val keys = trial.columns.map { case (c, _) => byPath(c.path) }.toIndexedSeq
    val curve = shape.curveOf(trial.columns.map(_._2), keys.map(room), files)
    val zs = valuesOf(curve, keys)
    val cuts = shape.cutsOf(zs.indices.map(i => (zs(i), i.toLong)).sorted, files, curve)
    boundsOf(zs, cuts)
  }

  /** The value of the curve of each sampled row. */
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
