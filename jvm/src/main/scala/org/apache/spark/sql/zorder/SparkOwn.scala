package org.apache.spark.sql.zorder

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.SparkContext
import org.apache.spark.deploy.SparkHadoopUtil
import org.apache.spark.internal.config
import org.apache.spark.rdd.InputFileBlockHolder
import org.apache.spark.sql.{classic, Row}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.PruneFileSourcePartitions
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.util.HadoopFSUtils

/** Methods and types that are private to Spark's packages. */
object SparkOwn {
  type ConfigBuilder = config.ConfigBuilder
  type ConfigEntry[T] = config.ConfigEntry[T]

  /** `spark.driver.maxResultSize` in bytes; 0 for any size. */
  def maxResultSize(context: SparkContext): Long = context.conf.get(config.MAX_RESULT_SIZE)

  def rows(session: classic.SparkSession, plan: LogicalPlan): classic.Dataset[Row] =
    classic.Dataset.ofRows(session, plan)

  /**
   * Spark's pruning of a catalog table's partitions. Spark runs it after extensions' rules, and may
   * run it twice.
   */
  def withPartitionsPruned(plan: LogicalPlan): LogicalPlan = PruneFileSourcePartitions(plan)

  /** Whether Spark reads the path as a pattern. */
  def isPattern(path: Path): Boolean = SparkHadoopUtil.get.isGlobPath(path)

  /** Whether Spark's listings leave out a file of this name. */
  def isHidden(name: String): Boolean = HadoopFSUtils.shouldFilterOutPathName(name)

  /** The existing paths that match a pattern. */
  def matching(fs: FileSystem, pattern: Path): Seq[Path] = SparkHadoopUtil.get.globPathIfNecessary(fs, pattern)

  /** The context of this JVM, where plans are made. */
  def activeContext: SparkContext = SparkContext.getActive.get

  /** Whether Spark draws a progress bar for its stages on the console. */
  def drawsProgressBar(context: SparkContext): Boolean = context.progressBar.isDefined

  /** Removes Spark's progress bar. Spark draws it again after half a second. */
  def hideProgressBar(context: SparkContext): Unit = context.progressBar.foreach(_.finishAll())

  /** How tasks and the driver reach file systems, without the settings of one session. */
  def hadoopConf: Configuration = SparkHadoopUtil.get.conf

  /** The file that this thread reads. It is another object for each part of a file. */
  def currentFile: UTF8String = InputFileBlockHolder.getInputFilePath
}
