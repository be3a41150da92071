package org.sparkzorder.scan

import java.nio.file.AccessDeniedException
import java.util.Locale
import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.catalog.{CatalogStorageFormat, HiveTableRelation}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.datasources.v2.orc.OrcScan
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetScan
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2ScanRelation, DataSourceV2Strategy}
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{classic, SparkSession}

import org.sparkzorder.stream.StreamedTables
import org.sparkzorder.table.{RecoveryErrors, Targets}

/**
 * Makes scans of Spark's V2 sources read each row once; no files are skipped there. A scan waits for an owner that is
 * exchanging files, recovers after a dead one, lists anew what was listed too early, and reads around what is half
 * done.
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
      PresentFiles.of(session, index, options, schema, None).flatMap(_.moved)
    }
}

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

/**
 * Looks at a table for a query that Spark can run by itself. A user who may not read the side folder has the rows that
 * Spark lists. If it cannot be read for any other reason, the query fails: files may be being exchanged, and Spark
 * would list both sides.
 */
private[scan] object SideFolderLook extends Logging {

  /** @param name how messages name the table in this folder */
  def orElse[A](name: Path => String, otherwise: => A)(look: => A): A =
    try RecoveryErrors.translateErrors(name)(look)
    catch {
      case e @ (_: AccessControlException | _: AccessDeniedException) =>
        logWarning(s"A side folder may not be read, so the query reads what Spark lists: ${e.getMessage}", e)
        otherwise
    }
}
