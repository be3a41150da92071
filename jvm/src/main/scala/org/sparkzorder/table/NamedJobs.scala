package org.sparkzorder.table

import org.apache.spark.SparkContext

/** Names of jobs in Spark's UI, which would else be lines of our sources. */
private[sparkzorder] object NamedJobs {
  private val Description = "spark.job.description"
  private val CallSite = "callSite.short"

  /** Runs jobs under a name. A description that the user has set stays. */
  def named[T](context: SparkContext, name: String)(jobs: => T): T = {
    val (description, callSite) = (context.getLocalProperty(Description), context.getLocalProperty(CallSite))
    if (description == null) context.setLocalProperty(Description, name)
    context.setLocalProperty(CallSite, name)
    try jobs
    finally {
      context.setLocalProperty(CallSite, callSite)
      context.setLocalProperty(Description, description)
    }
  }
}
