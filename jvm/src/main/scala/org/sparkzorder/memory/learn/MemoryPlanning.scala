package org.sparkzorder.memory.learn

import scala.util.Try

import org.apache.spark.SparkContext
import org.apache.spark.sql.classic
import org.apache.spark.sql.catalyst.expressions.{Expression, PredicateHelper}
import org.apache.spark.sql.execution.{FileSourceScanExec, FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.memory.{FilterKey, ReaderSettings, RememberedFiles, TableNames}

/** Decides which scans of tables with an index teach and ask the memory. */
private[sparkzorder] object MemoryPlanning extends PredicateHelper {

  /**
   * Whether the memory may be asked about a scan. A cluster may have the jar by other ways than Spark's. Then a user
   * says so by turning the memory on.
   */
  def isOn(relation: HadoopFsRelation): Boolean =
    SQLConf.get.getConf(ZOrderConf.memoryEnabled) && relation.bucketSpec.isEmpty &&
      (SQLConf.get.contains(ZOrderConf.memoryEnabled.key) || ExecutorJar.isThere(session(relation).sparkContext))

  /**
   * The files that are known to hold no row of a scan.
   *
   * @param conjuncts of its filter that can be evaluated now, but for those about partitions alone
   */
  def filesWithout(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      conjuncts: Seq[Expression]
  ): Option[RememberedFiles] =
    if (!isOn(relation) || !PendingScans.knows(TableNames.of(l, relation))) None
    else
      FilterKey.known(l, relation, conjuncts).flatMap { filter =>
        def now = ReaderSettings.of(relation).contains(filter.settings)
        PendingScans.filesWithout(filter, () => now)
      }

  /** The plan of a scan, with a node that learns if the scan has a filter that can be remembered. */
  def learning(plan: SparkPlan, l: LogicalRelation, relation: HadoopFsRelation): SparkPlan = plan match {
    case project @ ProjectExec(_, child) => project.copy(child = learning(child, l, relation))
    case filter @ FilterExec(condition, scan: FileSourceScanExec) if learns(relation) =>
      FilterKey.whole(l, relation, splitConjunctivePredicates(condition))
        .fold(filter)(f => new LearningFilterExec(condition, scan)(condition, f, scan.relation))
    case other => other
  }

  // Rules that exchange Spark's operators for others do not know this node.
  private def learns(relation: HadoopFsRelation): Boolean = session(relation).sessionState.columnarRules.isEmpty

  private def session(relation: HadoopFsRelation) = relation.sparkSession.asInstanceOf[classic.SparkSession]
}

/** Whether tasks can load this project's classes. Skipping by the index needs them on the driver only. */
private[learn] object ExecutorJar {

  private lazy val own: Option[String] =
    Try(getClass.getProtectionDomain.getCodeSource.getLocation.getPath).toOption.map(nameOf)

  /** Whether Spark gives the jar to the executors, or runs without any. */
  def isThere(context: SparkContext): Boolean =
    context.isLocal || own.exists(jar => jar.nonEmpty && jarsOf(context).exists(nameOf(_) == jar))

  /** On YARN, `--jars` goes this way. */
  private def jarsOf(context: SparkContext): Seq[String] =
    context.listJars() ++ context.getConf.get("spark.yarn.dist.jars", "").split(',')

  private def nameOf(path: String): String = path.substring(path.lastIndexOf('/') + 1)
}
