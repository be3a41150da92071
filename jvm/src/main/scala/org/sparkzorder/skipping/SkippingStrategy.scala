package org.sparkzorder.skipping

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.planning.ScanOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.{FileSourceStrategy, HadoopFsRelation, LogicalRelation}

import org.sparkzorder.memory.learn.MemoryPlanning
import org.sparkzorder.predicate.ReaderFilters
import org.sparkzorder.table.SparkFormat

/**
 * Spark's own strategy for file scans, with three changes for those of our indexes: files that cannot hold a matching
 * row are left out, the scan node shows it, and a node above the filter learns which files had a row. The filters are
 * those that Spark's strategy pushes down to row groups.
 */
object SkippingStrategy extends SparkStrategy {

  /** Whether a session has it. A user who sets `spark.experimental.extraStrategies` anew takes it away. */
  def isIn(session: SparkSession): Boolean =
    session.asInstanceOf[classic.SparkSession].experimental.extraStrategies.contains(this)

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case ScanOperation(_, _, filters, l: LogicalRelation) =>
      l.relation match {
        case relation @ HadoopFsRelation(planned: PlannedFileIndex, _, _, _, _, _) =>
          val location = planned.location(l, filters)
          val plans = FileSourceStrategy(JoinFilters.without(plan)(JoinFilters.isOne(_, l))).map(_.transform {
            case scan: FileSourceScanExec if scan.relation.location eq planned =>
              val relation = scan.relation.copy(location = location)(scan.relation.sparkSession)
              val found = scan.copy(relation = relation)
              def ofJoins = filters.filter(JoinFilters.isOne(_, l)).map(JoinFilters.named(_, l))
              if (!location.isInstanceOf[SkippingFileIndex]) found
              else SkippingDisplay.of(found.copy(dataFilters = found.dataFilters ++ ofJoins))
          })
          def hasIndex = location match {
            case skipping: SkippingFileIndex => skipping.report.isDefined
            case _                           => false
          }
          if (hasIndex && MemoryPlanning.isOn(relation)) plans.map(MemoryPlanning.learning(_, l, relation)) else plans
        case HadoopFsRelation(index: ReportingIndex, _, _, _, _, _) =>
          FileSourceStrategy(plan).map(_.transform {
            case scan: FileSourceScanExec if scan.relation.location eq index =>
              SkippingDisplay.of(if (mayFilter(scan, index)) scan else scan.copy(dataFilters = Nil))
          })
        case _ => Nil
      }
    case _ => Nil
  }

  /**
   * Whether the reader may leave out rows by the scan's filters. If it missed rows of files that were chosen since all
   * rows pass, no other file would make up for it.
   */
  private def mayFilter(scan: FileSourceScanExec, index: ReportingIndex): Boolean = {
    def isOrc = SparkFormat.of(scan.relation).contains("orc")
    scan.dataFilters.flatMap(_.references).forall { a =>
      if (index.areChosen) ReaderFilters.areExact(a.dataType) else !ReaderFilters.mayMiss(a.dataType, isOrc)
    }
  }
}
