package org.sparkzorder.conf

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.internal.SQLConf

/** The names of the session settings: the only place that knows them. */
object ZOrderConf {

  val skippingEnabled = SQLConf
    .buildConf("spark.zorder.skipping.enabled")
    .doc("Whether queries skip files that cannot hold a matching row. Results are the same either way.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val trustListing = SQLConf
    .buildConf("spark.zorder.skipping.trust-listing")
    .doc(
      "Whether a query leaves files out by the listing that the session holds, without a look at the storage. Faster on " +
        "object stores, and wrong when another program overwrites files in place while the session lasts."
    )
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val indexCacheMaxBytes = SQLConf
    .buildConf("spark.zorder.index.cache.max-bytes")
    .doc(
      "Bound on the driver's memory for cached statistics, in bytes; the least recently used go first. By default 256 MiB, or a " +
        "tenth of the driver's heap if that is less."
    )
    .version("0.1.0")
    .longConf
    .createOptional

  val workloadEnabled = SQLConf
    .buildConf("spark.zorder.workload.enabled")
    .doc("Whether queries record which columns they ask for, and where in the columns, for ZORDER BY AUTO.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val lockTimeoutSeconds = SQLConf
    .buildConf("spark.zorder.lock.timeout")
    .doc("Seconds without a heartbeat after which the owner of a table's lock, on another host, is taken for dead.")
    .version("0.1.0")
    .longConf
    .checkValue(_ >= 10, "must be at least 10 seconds")
    .createWithDefault(60)

  val publishWaitSeconds = SQLConf
    .buildConf("spark.zorder.publish.wait")
    .doc("Seconds that a query waits for an OPTIMIZE that is just renaming its files, before it reads around it.")
    .version("0.1.0")
    .longConf
    .createWithDefault(30)

  val historyRetention = SQLConf
    .buildConf("spark.zorder.history.retention")
    .doc(
      "How long the history keeps an operation whose retired files are deleted and whose own files are all gone. " +
        "A number of days, or a time such as '12h'. The table property `zorder.history.retention` goes before it."
    )
    .version("0.1.0")
    .stringConf
    .checkValue(retentionMillis(_).isDefined, "must be a number of days, or a time such as '12h'")
    .createWithDefault("30")

  /** The table property that goes before [[historyRetention]]. */
  val HistoryRetentionProperty = "zorder.history.retention"

  /** Milliseconds; None when the text is neither a number of days nor a time string of Spark's. */
  def retentionMillis(text: String): Option[Long] =
    try {
      val trimmed = text.trim
      val time = if (trimmed.nonEmpty && trimmed.forall(_.isDigit)) s"${trimmed}d" else trimmed
      Some(JavaUtils.timeStringAsMs(time)).filter(_ >= 0)
    } catch { case _: IllegalArgumentException => None }
}
