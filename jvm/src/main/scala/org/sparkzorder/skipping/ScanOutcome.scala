package org.sparkzorder.skipping

import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper

import org.sparkzorder.memory.learn.LearningFilterExec

/**
 * What one scan of a query that has run has read.
 *
 * @param filesWithoutRows files that were read, and no row of them passed the filter. None if nothing counted it: there is
 *   no filter, memory is off or does not know it, or the scan was not read to its end
 */
private[sparkzorder] final case class ScanOutcome(explanation: ScanExplanation, filesWithoutRows: Option[Long])

private[sparkzorder] object ScanOutcome extends AdaptiveSparkPlanHelper {

  /** @param plan that has run */
  def of(plan: SparkPlan): Seq[ScanOutcome] = {
    val counted = collectWithSubqueries(plan) { case f: LearningFilterExec => f }
    collectWithSubqueries(plan) {
      case scan: FileSourceScanExec =>
        val filter = counted.find(f => find(f.child)(_ eq scan).isDefined)
        ScanOutcome(explanation(scan), filter.flatMap(_.filesWithoutRows))
      case node: AnsweredNode => ScanOutcome(ScanExplanation.of(node.answered), None)
    }
  }

  private def explanation(scan: FileSourceScanExec): ScanExplanation = {
    val name = scan.tableIdentifier.map(_.unquotedString)
      .getOrElse(scan.relation.location.rootPaths.map(_.toString).mkString(s"${scan.relation} ", ", ", ""))
    def metric(name: String) = scan.metrics.get(name).fold(0L)(_.value)
    val (files, bytes) = (metric("numFiles"), metric("filesSize"))
    scan.relation.location match {
      case index: ReportingIndex if index.report.isDefined =>
        val r = index.report.get
        val joins = scan match {
          case display: SkippingDisplay => display.joinReports
          case _                        => Nil
        }
        ScanExplanation(name, r.filesTotal, files, r.bytesTotal, bytes, r.pruningMs, r.conjuncts ++ joins)
      case _ => ScanExplanation(name, files, files, bytes, bytes, 0.0, Nil)
    }
  }
}
