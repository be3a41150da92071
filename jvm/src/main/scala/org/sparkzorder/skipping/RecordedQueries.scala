package org.sparkzorder.skipping

import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.internal.SQLConf

import org.sparkzorder.conf.ZOrderConf
import org.sparkzorder.predicate.StatsPredicate
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

  /** @param filter of a scan that reads through the views */
  private[skipping] def observe(l: LogicalRelation, views: Seq[ScanSnapshot], filter: StatsPredicate): Unit =
    if (!paused.get && SQLConf.get.getConf(ZOrderConf.workloadEnabled)) {
      val table = l.catalogTable
      lazy val excluded = ExcludedNames.of(table)
      val user = UserGroupInformation.getCurrentUser
      for (view <- views; snapshot <- view.snapshot)
        WorkloadRecorder.observe(Observation(view.folder, snapshot, filter, path => excluded.covers(path), user))
    }
}
