package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.{FileSourceStrategy, HadoopFsRelation, LogicalRelation}

import org.sparkzorder.shim.SkippingScanExec

/** Spark's own strategy for file scans, with a scan node that tells what was skipped. */
object SkippingStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PhysicalOperation(_, _, l: LogicalRelation) if isSkipping(l) =>
      FileSourceStrategy(plan).map(_.transform {
        case scan: FileSourceScanExec if scan.relation.location.isInstanceOf[SkippingFileIndex] =>
          SkippingScanExec.of(scan)
      })
    case _ => Nil
  }

  private def isSkipping(l: LogicalRelation): Boolean = l.relation match {
    case r: HadoopFsRelation => r.location.isInstanceOf[SkippingFileIndex]
    case _                   => false
  }
}
