package org.apache.spark.metrics.source

import scala.util.control.NonFatal

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.spark.SparkEnv
import org.slf4j.LoggerFactory

import org.sparkzorder.commit.OperationMetrics
import org.sparkzorder.insert.WriteOrderRule
import org.sparkzorder.skipping.SkippingErrors

/**
 * Gauges for Spark's metrics system that tell what this driver does to tables. The class is in
 * Spark's package because [[Source]] is private to it. Each gauge only reads memory.
 */
private[spark] final class ZOrderSource extends Source {
  override val sourceName: String = ZOrderSource.Name
  override val metricRegistry: MetricRegistry = new MetricRegistry

  private def gauge(name: String)(value: => Long): Unit = {
    metricRegistry.register(
      name,
      new Gauge[Long] {
        override def getValue: Long = value
      }
    )
    ()
  }

  gauge("locks.held")(OperationMetrics.locksHeld.toLong)
  gauge("locks.age.millis")(OperationMetrics.oldestLockMillis)
  gauge("publishing.count")(OperationMetrics.publishing.toLong)
  gauge("trash.bytes")(OperationMetrics.trashBytes)
  gauge("skipping.errors.count")(SkippingErrors.total)
  gauge("write.order.errors.count")(WriteOrderRule.errors)
}

object ZOrderSource {
  val Name = "spark_zorder"

  private val log = LoggerFactory.getLogger("org.sparkzorder.ZOrderSource")

  /**
   * Registers the source once for each SparkContext. A failure is only logged, as metrics must not
   * make a query fail.
   */
  def register(): Unit = synchronized {
    try {
      for (env <- Option(SparkEnv.get); metrics <- Option(env.metricsSystem))
        if (metrics.getSourcesByName(Name).isEmpty) metrics.registerSource(new ZOrderSource)
    } catch { case NonFatal(e) => log.warn("Metrics of spark_zorder are not reported", e) }
  }
}
