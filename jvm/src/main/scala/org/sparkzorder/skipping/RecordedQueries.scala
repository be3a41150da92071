package org.sparkzorder.skipping

import scala.util.control.NonFatal

import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.predicate.Filters
import org.sparkzorder.scan.ScanSnapshot
import org.sparkzorder.table.ExcludedNames
import org.sparkzorder.workload.{Observation, WorkloadRecorder}

/** Gives the filters of queries to the workload recorder, if the session has turned it on. */
object RecordedQueries {

  private val paused = ThreadLocal.withInitial[Boolean](() => false)

  /** Records nothing while `work` runs: it plans queries that are not run. */
  def paused[T](work: => T): T = {
    val before = paused.get
    paused.set(true)
    try work
    finally paused.set(before)
  }

  private[skipping] def isOn: Boolean = !paused.get && SQLConf.get.getConf(ZOrderConf.workloadEnabled)

  /**
   * Never fails.
   *
   * @param filters of a scan that reads through the views
   */
  private[skipping] def observe(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      views: Seq[ScanSnapshot],
      filters: Seq[Expression]
  ): Unit =
    try observed(l, relation, views, filters).foreach(WorkloadRecorder.observe)
    catch { case NonFatal(e) => WorkloadRecorder.notObserved(views.map(_.root), e) }

  private def observed(
      l: LogicalRelation,
      relation: HadoopFsRelation,
      views: Seq[ScanSnapshot],
      filters: Seq[Expression]
  ): Seq[Observation] = {
    lazy val excluded = ExcludedNames.of(l.catalogTable)
    val notByName = ColumnsByName.whyNot(relation, views)
    val (_, onData) = ScanFilters.byPartition(ScanFilters.evaluable(filters, l), l, relation)
    val translated = onData.map(ScanPredicates.translate(relation, notByName, _))
    val filter = Filters.conjunction(translated.filterNot(ScanPredicates.isAboutPartitions(relation, _)))
    val joined = filters.flatMap(RecordedJoins.of(l, _))
    val user = UserGroupInformation.getCurrentUser
    for (view <- views; snapshot <- view.snapshot)
      yield Observation(view.folder, snapshot, filter, joined, path => excluded.covers(path), user)
  }
}
