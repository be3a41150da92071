package org.sparkzorder.skipping

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import org.sparkzorder.stream.StreamedTables
import org.sparkzorder.table.Targets

/**
 * Hive's own reader lists files itself while the query runs. Before, this waits for an owner that is exchanging files, or recovers
 * after a dead one; where neither can be, the query fails.
 */
class HiveScans(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case relation: HiveTableRelation =>
        relation.tableMeta.storage.locationUri.foreach { uri =>
          val root = Targets.qualified(session, new Path(uri))
          new StreamedTables(session.asInstanceOf[classic.SparkSession], root).versions(Nil)
        }
      case _ => ()
    }
    plan
  }
}
