package org.sparkzorder.scan

import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.catalog.{CatalogStorageFormat, HiveTableRelation}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import org.sparkzorder.stream.StreamedTables
import org.sparkzorder.table.{RecoveryErrors, Targets}

/**
 * Makes tables whole before Hive's own reader lists their files, which it does while the query runs. Waits for an owner
 * that is exchanging files, and recovers after a dead one. If neither is possible, the query fails.
 */
class HiveScans(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case relation: HiveTableRelation if isOurs(relation.tableMeta.storage) =>
        relation.tableMeta.storage.locationUri.foreach { uri =>
          SideFolderLook.orElse[Unit](RecoveryErrors.quoted, ()) {
            val root = Targets.qualified(session, new Path(uri))
            new StreamedTables(session.asInstanceOf[classic.SparkSession], root).versions(Nil)
            ()
          }
        }
      case _ => ()
    }
    plan
  }

  private def isOurs(storage: CatalogStorageFormat): Boolean =
    storage.serde.exists(s => Seq("parquet", "orc").exists(s.toLowerCase(Locale.ROOT).contains))
}
