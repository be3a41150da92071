package org.sparkzorder.shim

import org.apache.spark.sql.catalyst.analysis.ResolveDataSource
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedDataSource}
import org.apache.spark.sql.classic

/** What `spark.read.load(path)` makes, before Spark has listed the paths. */
object PathSource {

  /** The format and the paths of a read that has no schema of its user's and is no stream. */
  def unapply(plan: LogicalPlan): Option[(String, Seq[String])] = plan match {
    case u: UnresolvedDataSource if !u.isStreaming && u.userSpecifiedSchema.isEmpty =>
      Some((u.format, u.options.get("path").toSeq ++ u.paths))
    case _ => None
  }

  def resolved(session: classic.SparkSession, plan: LogicalPlan): LogicalPlan = new ResolveDataSource(session)(plan)
}
