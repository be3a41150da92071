package org.sparkzorder.skipping

import org.apache.spark.sql.catalyst.planning.ScanOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.{FileSourceStrategy, HadoopFsRelation, LogicalRelation}

/**
 * Spark's own strategy for file scans, with two changes: files that cannot hold a matching row are left out, and the scan
 * node shows it. The filters are those that Spark's strategy pushes down to row groups.
 */
object SkippingStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case ScanOperation(_, _, filters, l: LogicalRelation) =>
      l.relation match {
        case HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _) =>
          val location = planned.location(l, filters)
          FileSourceStrategy(plan).map(_.transform {
            case scan: FileSourceScanExec if scan.relation.location eq planned =>
              val relation = scan.relation.copy(location = location)(scan.relation.sparkSession)
              val found = scan.copy(relation = relation)
              if (location.isInstanceOf[SkippingFileIndex]) SkippingDisplay.of(found) else found
          })
        case _ => Nil
      }
    case _ => Nil
  }
}
