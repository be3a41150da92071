package org.sparkzorder.workload

import org.sparkzorder.layout._

/**
 * A layout to be tried.
 *
 * @param curve one of those of [[LayoutSpec]]
 * @param columns with their weights, the leading one first
 */
final case class Trial(curve: String, columns: Seq[(ConstrainedColumn, Double)])

/**
 * What share of the files the recorded queries would touch, by laying out the sample as the table would be.
 *
 * A file holds of each column what its sampled rows hold. Where values that a query names for several columns lie is
 * taken to be independent, column by column, for that is how it is recorded.
 *
 * @param columns all that the queries ask for; queries for others are not looked at
 * @param files to cut the sample into
 * @param share of the room that is given to what queries ask for, see [[QueryDensity]]
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

  private val kinds: Seq[(Double, Seq[Probability])] =
    sketch.without(!byPath.contains(_)).ranked.map { case (kind, of) =>
      of.queries.toDouble -> kind.zip(of.uses).map { case (use, where) =>
        val c = byPath(use.path)
        new Probability(c, use.form, of.queries, columns(c).measure(where.starts), columns(c).measure(where.ends))
      }
    }

  /** Queries that are looked at. */
  val queries: Double = kinds.map(_._1).sum

  /**
   * The mean share of the files that a query touches, from 0 to 1. Cells make a few files more or fewer than asked for,
   * by chance: the share is taken to what it were with the number asked for, as it goes with F^(-1/D).
   */
  def touched(trial: Trial): Double = {
    val (slots, low, high) = extents(trial)
    val sum = kinds.map { case (n, uses) =>
      var files = 0d
      var slot = 0
      while (slot < slots) {
        files += uses.foldLeft(1d)((p, u) => p * u.of(low(u.column)(slot), high(u.column)(slot)))
        slot += 1
      }
      n * files
    }.sum
    val share = sum / queries / slots
    math.min(1d, share * math.pow(slots.toDouble / files, 1d / trial.columns.length))
  }

  /** Files, and for each column the least and the greatest sampled value of each, -1 where it has none. */
  private def extents(trial: Trial): (Int, IndexedSeq[Array[Int]], IndexedSeq[Array[Int]]) = {
    val keys = trial.columns.map { case (c, _) => byPath(c.path) }.toIndexedSeq
    val distributions = keys.map(room)
    val shape = LayoutShape(trial.curve, aligned)
    val curve = shape.curveOf(trial.columns.map(_._2), distributions, files)
    val parts = keys.indices.map { k =>
      val d = distributions(k)
      Array.tabulate(d.distinct + 1)(i => curve.spread(k, d.id(2 * i, curve.bits(k))))
    }
    val zs = Array.tabulate(rows) { row =>
      var z = 0L
      var k = 0
      while (k < keys.length) {
        z |= parts(k)(columns(keys(k)).ofRow(row) + 1)
        k += 1
      }
      curve.value(z)
    }
    val cuts = shape.cutsOf(zs.indices.map(i => (zs(i), i.toLong)).sorted, files, curve)
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
    (cuts.slots, low, high)
  }

  /** That a query of one kind touches a file on account of one column. */
  private final class Probability(
      val column: Int,
      form: Form,
      queries: Long,
      starts: Array[Double],
      ends: Array[Double]
  ) {
    private val startsBelow = starts.scanLeft(0d)(_ + _)
    private val endsBelow = ends.scanLeft(0d)(_ + _)

    /** @param low least and greatest value of the file, -1 for none */
    def of(low: Int, high: Int): Double =
      if (low < 0) 0d
      else form match {
        // It misses the file when it ends below, or begins above; never both.
        case Form.Range =>
          val below = endsBelow(low)
          val above = startsBelow.last - startsBelow(high + 1)
          math.max(0d, 1 - (below + above) / queries)
        case _ if startsBelow.last == 0 => 1d
        case _                          =>
          val one = (startsBelow(high + 1) - startsBelow(low)) / startsBelow.last
          1 - math.pow(1 - one, startsBelow.last / queries)
      }
  }
}
