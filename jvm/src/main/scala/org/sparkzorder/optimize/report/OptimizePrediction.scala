package org.sparkzorder.optimize.report

import org.sparkzorder.commit.Record
import org.sparkzorder.compat._
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.write.sample.RewritePrediction

/** What an OPTIMIZE would do, for DRY RUN. Making it changes nothing. */
private[sparkzorder] object OptimizePrediction {

  /** What the jobs take however few bytes there are. */
  private val JobMillis = 1000L

  /** A rewrite of fewer bytes says nothing about the time of a large one. */
  private val LeastBytes = 16L << 20

  /**
   * @param groups how many file groups would be rewritten
   * @param history newest first
   */
  def metrics(
      plan: OptimizePlan,
      predictions: Seq[RewritePrediction],
      groups: Int,
      history: Iterator[Record]
  ): OptimizeMetrics = {
    val whole = merged(predictions)
    val bytesOfUnit = plan.rewrites.map(_.files.map(_.getLen).sum)
    OptimizeMetrics.of(
      plan,
      added = whole.files.map(f => (bytesOfUnit(f.unit) * f.share).round),
      batches = groups,
      OptimizeStrategy.of(plan, whole.samples, whole.drifts),
      clustering(plan, whole)
    ).copy(
      millis = rate(history).map(r => JobMillis + (bytesOfUnit.sum / r).round),
      workload = WorkloadShares.of(plan, whole.files),
      dryRun = true
    )
  }

  /** Units of a later job follow those of the earlier ones. */
  private def merged(predictions: Seq[RewritePrediction]): RewritePrediction = {
    val firstUnits = predictions.scanLeft(0)(_ + _.samples.size)
    RewritePrediction(
      predictions.zip(firstUnits).flatMap { case (p, first) => p.files.map(f => f.copy(unit = f.unit + first)) },
      predictions.flatMap(_.samples).toIndexedSeq,
      predictions.flatMap(_.drifts)
    )
  }

  private def clustering(plan: OptimizePlan, whole: RewritePrediction): Seq[ColumnClustering] = {
    val units = whole.files.map(_.unit)
    val files = whole.files.size + plan.untouched.size
    ColumnClustering.ofFiles(plan).map { k =>
      val mean = new ColumnClustering.Lookups(plan, whole.samples, k)
      val after = for {
        all <- mean.after(whole.files.map(_.bounds(k)))
        half <- mean.after(whole.files.map(_.boundsOfHalf(k)))
      } yield beyondSample(half, all, files)
      val halves = whole.files.flatMap(_.halves.map(_(k)))
      // A file of one row has none.
      val hasHalves = halves.size == 2 * whole.files.size
      // What the sample lacks is as large a part of them.
      val ofHalf = for {
        all <- mean.after(whole.files.map(_.bounds(k))); a <- after; h <- mean.after(halves) if hasHalves && all > 0
      } yield math.min(halves.size.toDouble + plan.untouched.size, h * a / all)
      ColumnClustering(plan.keys(k).name, mean.before, after, mean.bound(units), ofHalf)
    }
  }

  /**
   * The mean over all rows, from the means over the sampled rows and over half of them. Bounds widen
   * as more rows are seen. The part that a sample of n rows lacks goes with 1/n, so twice the sample
   * halves it (Richardson extrapolation).
   */
  private def beyondSample(half: Double, all: Double, files: Int): Double =
    math.min(files.toDouble, all + math.max(0d, all - half))

  /** Bytes in a millisecond, by the newest rewrite of this table that is large enough to tell. */
  private def rate(history: Iterator[Record]): Option[Double] = {
    def number(record: Record, key: String) = record.metrics.get(key).flatMap(_.toLongOption).filter(_ > 0)
    history.flatMap { record =>
      for {
        bytes <- number(record, "numRemovedBytes") if bytes >= LeastBytes
        millis <- number(record, "rewriteMillis")
      } yield bytes.toDouble / millis
    }.nextOption()
  }
}
