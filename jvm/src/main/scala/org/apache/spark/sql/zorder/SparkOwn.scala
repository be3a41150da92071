package org.apache.spark.sql.zorder

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.deploy.SparkHadoopUtil
import org.apache.spark.sql.{classic, Row}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.PruneFileSourcePartitions

/** Calls that only Spark's own packages may make. */
object SparkOwn {
  def rows(session: classic.SparkSession, plan: LogicalPlan): classic.Dataset[Row] =
    classic.Dataset.ofRows(session, plan)

  /** Spark's own pruning of a catalog table's partitions, which comes after the rules of extensions. It may be done twice. */
  def withPartitionsPruned(plan: LogicalPlan): LogicalPlan = PruneFileSourcePartitions(plan)

  /** Whether Spark takes it for a pattern of paths. */
  def isPattern(path: Path): Boolean = SparkHadoopUtil.get.isGlobPath(path)

  /** The paths that there are of a pattern. */
  def matching(fs: FileSystem, pattern: Path): Seq[Path] = SparkHadoopUtil.get.globPathIfNecessary(fs, pattern)
}
