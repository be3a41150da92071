package org.sparkzorder.optimize.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.util.QuotingUtils.quoteNameParts
import org.apache.spark.sql.types.{DoubleType, StringType, StructType}

import org.sparkzorder.commit.log.Reappeared
import org.sparkzorder.compat._
import org.sparkzorder.layout.{BytesDistribution, DistributionDrift, JoinSpec, ValueDistribution}
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.stats.KeyEncoding

/**
 * What OPTIMIZE chose to rewrite, and why.
 *
 * @param name `none`, `pack`, `full` (all files of each rewritten folder) or `incremental` (only
 *   some files of at least one folder)
 * @param reason the reasons in words
 * @param drift how far the new rows have drifted from the boundaries of the cells, from 0 to 1; see
 *   [[org.sparkzorder.layout.DistributionDrift]]
 */
final case class OptimizeStrategy(name: String, reason: String, drift: Option[Double]) {

  def row: Row = Row(name, reason, drift.orNull)

  def history: Map[String, String] =
    Map("strategy" -> name, "strategyReason" -> reason).filter(_._2.nonEmpty) ++ drift.map(d =>
      "drift" -> (math.round(d * 1000) / 1000d).toString
    )
}

object OptimizeStrategy {
  private type Samples = Seq[IndexedSeq[ValueDistribution]]

  /**
   * How many reasons the text lists, and how many folders of each. The reasons of different folders
   * often differ only in their figures.
   */
  private val Most = 3

  private[sparkzorder] def nothing(plan: OptimizePlan): OptimizeStrategy =
    OptimizeStrategy(
      "none",
      (if (plan.considered == 0) "no data files were found" else "there is nothing to do") + warning(plan),
      None
    )

  private def warning(plan: OptimizePlan): String =
    if (plan.reappeared.isEmpty) "" else s"; warning: ${Reappeared.describe(plan.reappeared)}"

  /**
   * @param samples of each rewrite, the sampled values of the key columns
   * @param drifts of the rewrites whose rows join existing files
   */
  private[sparkzorder] def of(
      plan: OptimizePlan,
      samples: Samples,
      drifts: Seq[DistributionDrift]
  ): OptimizeStrategy = {
    val name =
      if (plan.layout.isEmpty) "pack" else if (plan.rewrites.exists(_.incremental)) "incremental" else "full"
    val folders = plan.rewrites.filter(_.reason.nonEmpty).map(r => r.reason -> plan.folderOf(r)).distinct
    val reasons = folders.map(_._1).distinct
    def named(reason: String) =
      if (reasons.size == 1 || folders.map(_._2).distinct.size == 1) reason
      else s"${some(folders.filter(_._1 == reason).map(_._2), ", ")}: $reason"
    val misfit =
      if (drifts.forall(_.fits)) ""
      else "; new rows are beyond the boundaries of the cells, so the rewritten files have new boundaries"
    val told = some(reasons.map(named), "; ") + misfit + alike(plan, samples) + warning(plan)
    OptimizeStrategy(name, told, drifts.map(_.distance).maxOption)
  }

  private def some(all: Seq[String], separator: String): String =
    all.take(Most).mkString(separator) + (if (all.size > Most) s"${separator}and ${all.size - Most} more" else "")

  /** Warns about key columns whose values all begin with the same bytes, so that the layout cannot tell them apart. */
  private def alike(plan: OptimizePlan, samples: Samples): String = {
    val columns = plan.keys.indices.filter { c =>
      val seen = samples.flatMap(_.lift(c)).filter(_.distinct > 0)
      seen.nonEmpty && seen.forall {
        case d: BytesDistribution => d.distinct == 1 && d.values.head.length == KeyEncoding.MaxBytes
        case _                    => false
      }
    }
    columns.map { c =>
      s"; warning: all sampled values of ${quoteNameParts(JoinSpec.shown(plan.keys(c).path))} begin with the same " +
        s"${KeyEncoding.MaxBytes} bytes, and a layout compares no more, so it cannot order rows by this column"
    }.mkString
  }

  val schema: StructType = new StructType()
    .add("name", StringType, nullable = false)
    .add("reason", StringType, nullable = false)
    .add("drift", DoubleType)
}
