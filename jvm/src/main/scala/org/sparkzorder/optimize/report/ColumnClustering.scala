package org.sparkzorder.optimize.report

import org.sparkzorder.compat._
import org.sparkzorder.layout.{ClusteringDepth, FileBounds, FilesTouched, ValueDistribution}
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.stats.{ColumnKey, ColumnStats}
import org.sparkzorder.write.job.RewriteResult

/**
 * How many files a point lookup on a column touches on average, that is, how many have bounds that include a value
 * drawn from the data. None if no value was sampled.
 *
 * @param bound the least mean that so many files can have for all key columns alike, with as many rows of a value as
 *   this column has
 * @param meanFilesOfHalf if it is a prediction: the mean after, if new files had half the size
 */
final case class ColumnClustering(
    column: String,
    meanFilesBefore: Option[Double],
    meanFilesAfter: Option[Double],
    bound: Double,
    meanFilesOfHalf: Option[Double] = None
)

private[sparkzorder] object ColumnClustering {

  /**
   * For each key column of the files, by the footers of the inputs and by the statistics of the files
   * that were written.
   */
  def of(plan: OptimizePlan, result: RewriteResult): Seq[ColumnClustering] = {
    val units = result.outputs.map(_.unit)
    ofFiles(plan).map { k =>
      val key = keyOf(plan, k)
      val written = result.outputs.map(o => FileBounds.of(o.stats.columns.getOrElse(key, ColumnStats.unknown), o.rows))
      val mean = new Lookups(plan, result.samples, k)
      ColumnClustering(plan.keys(k).name, mean.before, mean.after(written), mean.bound(units))
    }
  }

  /** Which of the keys the files have. Files have no bounds of the attributes of dimensions. */
  def ofFiles(plan: OptimizePlan): Seq[Int] = plan.keys.indices.filter(plan.keys(_).isOfFiles)

  def keyOf(plan: OptimizePlan, k: Int): ColumnKey = ColumnKey(plan.keys(k).path, plan.keys(k).dataType)

  /**
   * The mean number of files of a lookup on one key column. None if no value was sampled.
   *
   * @param sampled the sampled values of the columns in each rewrite
   * @param k the key column
   */
  final class Lookups(plan: OptimizePlan, sampled: Seq[IndexedSeq[ValueDistribution]], k: Int) {
    private val rowsOfFile = plan.inputs.map(i => i.status.getPath -> i.footer.rows).toMap
    private val samples: Seq[(ValueDistribution, Long)] = sampled.zip(plan.rewrites).collect {
      case (distributions, rewrite) if distributions.nonEmpty =>
        distributions(k) -> rewrite.files.map(f => rowsOfFile(f.getPath)).sum
    }
    private val untouched = plan.untouched.map(_(k))

    private def mean(files: Seq[FileBounds]): Option[Double] =
      Option.when(samples.nonEmpty)(FilesTouched.mean(samples, files))

    def before: Option[Double] = mean(plan.inputs.map(_.bounds(keyOf(plan, k))) ++ untouched)
    def after(written: Seq[FileBounds]): Option[Double] = mean(untouched ++ written)

    /**
     * The least mean number: the sum over the rewritten folders, as each has a curve of its own.
     *
     * @param unitOfFile the rewrite that each new file comes from
     */
    def bound(unitOfFile: Seq[Int]): Double = {
      val written = unitOfFile.groupBy(identity).map { case (unit, files) => unit -> files.size }
      plan.rewrites.indices.groupBy(plan.rewrites(_).folder.path).values.map { units =>
        val files = units.map(u => plan.rewrites(u).rest.size + written.getOrElse(u, 0)).sum
        // The rewrites of a folder are parts of it by time or size, so one stands for all.
        val shares = units.flatMap(sampled.lift(_)).find(_.nonEmpty).toSeq.flatMap(_(k).shares)
        ClusteringDepth.bound(files.toLong, plan.keys.size, shares)
      }.sum
    }
  }
}
