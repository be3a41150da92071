package org.sparkzorder.optimize

import org.sparkzorder.layout.{FileBounds, FilesTouched, ValueDistribution}
import org.sparkzorder.stats.{ColumnKey, ColumnStats}
import org.sparkzorder.write.{KeyColumn, RewriteResult}

/**
 * How many files a point lookup on a column touches on average, that is, how many have bounds that
 * include a value drawn from the data. None if no value was sampled.
 */
final case class ColumnClustering(column: String, meanFilesBefore: Option[Double], meanFilesAfter: Option[Double])

private[sparkzorder] object ColumnClustering {

  /**
   * For each key column, by the footers of the inputs and by the statistics of the files that were
   * written.
   */
  def of(plan: OptimizePlan, result: RewriteResult): Seq[ColumnClustering] = {
    val rowsOfFile = plan.inputs.map(i => i.status.getPath -> i.footer.rows).toMap
    val rowsOfRewrite = plan.rewrites.map(_.files.map(f => rowsOfFile(f.getPath)).sum)
    plan.keys.indices.map { k =>
      val samples = result.samples.zip(rowsOfRewrite).collect {
        case (distributions, rows) if distributions.nonEmpty => distributions(k) -> rows
      }
      of(plan.keys(k), samples, plan.inputs, plan.untouched.map(_(k)), result)
    }
  }

  /**
   * @param samples of each rewrite the sampled values and the number of rows
   * @param untouched bounds of files that stay
   */
  private def of(
      key: KeyColumn,
      samples: Seq[(ValueDistribution, Long)],
      inputs: Seq[Input],
      untouched: Seq[FileBounds],
      result: RewriteResult
  ): ColumnClustering = {
    val name = key.path.mkString(".")
    if (samples.isEmpty) ColumnClustering(name, None, None)
    else {
      val column = ColumnKey(key.path, key.dataType)
      val before = inputs.map(_.bounds(column)) ++ untouched
      val after = untouched ++
        result.outputs.map(o => FileBounds.of(o.stats.columns.getOrElse(column, ColumnStats.unknown), o.rows))
      ColumnClustering(
        name,
        meanFilesBefore = Some(FilesTouched.mean(samples, before)),
        meanFilesAfter = Some(FilesTouched.mean(samples, after))
      )
    }
  }
}
