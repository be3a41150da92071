package org.sparkzorder.scan

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2ScanRelation, DataSourceV2Strategy}
import org.apache.spark.sql.execution.datasources.v2.orc.OrcScan
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetScan
import org.apache.spark.sql.types.StructType

import org.sparkzorder.table.RecoveryErrors

/**
 * Makes scans of Spark's V2 sources read each row once; no files are skipped there. A scan waits for an owner that is
 * exchanging files, recovers after a dead one, lists anew what was listed too early, and reads around what is half done.
 *
 * This is a strategy because the scan does not exist yet when the last rule that an extension may add runs.
 */
class V2Scans(session: SparkSession) extends SparkStrategy {
  private val classicSession = session.asInstanceOf[classic.SparkSession]
  private lazy val spark = new DataSourceV2Strategy(classicSession)

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PhysicalOperation(_, _, relation: DataSourceV2ScanRelation) =>
      whole(relation.scan).fold[Seq[SparkPlan]](Nil) { scan =>
        spark(plan.transform { case r: DataSourceV2ScanRelation if r eq relation => r.copy(scan = scan) })
      }
    case _ => Nil
  }

  /** None if the scan is right as it is. */
  private def whole(scan: Scan): Option[Scan] = scan match {
    case s: ParquetScan =>
      whole(s.fileIndex, s.options.asScala.toMap, s.dataSchema).map(index => s.copy(fileIndex = index))
    case s: OrcScan => whole(s.fileIndex, s.options.asScala.toMap, s.dataSchema).map(index => s.copy(fileIndex = index))
    case _          => None
  }

  private def whole(
      index: PartitioningAwareFileIndex,
      options: Map[String, String],
      schema: StructType
  ): Option[PartitioningAwareFileIndex] =
    SideFolderLook.orElse[Option[PartitioningAwareFileIndex]](RecoveryErrors.quoted, None) {
      CurrentFiles.of(session, index, options, schema, None).flatMap(_.moved)
    }
}
