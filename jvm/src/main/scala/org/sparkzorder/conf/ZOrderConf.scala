package org.sparkzorder.conf

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.internal.SQLConf

/**
 * All session settings. Nothing else knows their names.
 *
 * `docs/reference/settings.md` is written from [[ZOrderConf.all]] and [[TableProperties.all]].
 * ReferencePagesSuite fails when they differ.
 */
object ZOrderConf {

  val skippingEnabled = SQLConf
    .buildConf("spark.zorder.skipping.enabled")
    .doc("Whether queries skip files that cannot contain a matching row. The results are the same either way.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val trustListing = SQLConf
    .buildConf("spark.zorder.skipping.trust-listing")
    .doc(
      "Whether queries skip files by the file listing that the session keeps, without looking at the storage again. This " +
        "is faster on object stores. Results are wrong if another program overwrites files in place during the session."
    )
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val indexCacheMaxBytes = SQLConf
    .buildConf("spark.zorder.index.cache.max-bytes")
    .doc(
      "How much of the driver's memory cached statistics may take, in bytes. The least recently used ones are dropped first."
    )
    .version("0.1.0")
    .longConf
    .checkValue(_ >= 0, "must be at least 0 bytes")
    .createOptional

  val workloadEnabled = SQLConf
    .buildConf("spark.zorder.workload.enabled")
    .doc(
      "Whether queries record which columns they filter on, and where in the columns, for `ZORDER BY AUTO`. No value is " +
        "recorded."
    )
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val lockTimeoutSeconds = SQLConf
    .buildConf("spark.zorder.lock.timeout")
    .doc(
      "The seconds without a heartbeat after which the owner of a table's lock counts as dead, if it ran on another host."
    )
    .version("0.1.0")
    .longConf
    .checkValue(_ >= 10, "must be at least 10 seconds")
    .createWithDefault(60)

  val historyRetention = SQLConf
    .buildConf("spark.zorder.history.retention")
    .doc(
      "How long the history keeps an operation whose retired files are deleted. `VACUUM` forgets older ones. The table " +
        "property `zorder.history.retention` takes precedence."
    )
    .version("0.1.0")
    .stringConf
    .checkValue(retentionMillis(_).isDefined, "must be a number of days, or a time such as '12h'")
    .createWithDefault("30")

  val historyMaxOperations = SQLConf
    .buildConf("spark.zorder.history.max-operations")
    .doc(
      "How many operations the history keeps. `VACUUM` forgets the oldest ones whose retired files are deleted. The table " +
        "property `zorder.history.max-operations` takes precedence."
    )
    .version("0.1.0")
    .intConf
    .checkValue(_ > 0, "must be at least 1")
    .createWithDefault(1000)

  val progressEnabled = SQLConf
    .buildConf("spark.zorder.progress.enabled")
    .doc(
      "Whether a statement shows its progress: a line in the log every ten seconds, and a bar where Spark draws its own. " +
        "The methods of `ZOrderTable` draw one in notebooks and over Spark Connect."
    )
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  /** In the order of the reference page. */
  val all: Seq[Setting] = Seq(
    Setting(
      key = skippingEnabled.key,
      valueType = "boolean",
      default = code(skippingEnabled.defaultValueString),
      range = "`true` or `false`",
      description = skippingEnabled.doc,
      example = "false"
    ),
    Setting(
      key = trustListing.key,
      valueType = "boolean",
      default = code(trustListing.defaultValueString),
      range = "`true` or `false`",
      description = trustListing.doc,
      example = "true"
    ),
    Setting(
      key = indexCacheMaxBytes.key,
      valueType = "whole number",
      default = "268435456 (256 MiB), or a tenth of the driver's heap if that is less",
      range = "0 or more",
      description = indexCacheMaxBytes.doc,
      example = "1073741824"
    ),
    Setting(
      key = workloadEnabled.key,
      valueType = "boolean",
      default = code(workloadEnabled.defaultValueString),
      range = "`true` or `false`",
      description = workloadEnabled.doc,
      example = "true"
    ),
    Setting(
      key = lockTimeoutSeconds.key,
      valueType = "seconds",
      default = lockTimeoutSeconds.defaultValueString,
      range = "10 or more",
      description = lockTimeoutSeconds.doc,
      example = "120"
    ),
    Setting(
      key = historyRetention.key,
      valueType = "time",
      default = s"${historyRetention.defaultValueString} (days)",
      range = "a number of days, or a time such as `12h`",
      description = historyRetention.doc,
      example = "90"
    ),
    Setting(
      key = historyMaxOperations.key,
      valueType = "whole number",
      default = historyMaxOperations.defaultValueString,
      range = "1 or more",
      description = historyMaxOperations.doc,
      example = "200"
    ),
    Setting(
      key = progressEnabled.key,
      valueType = "boolean",
      default = code(progressEnabled.defaultValueString),
      range = "`true` or `false`",
      description = progressEnabled.doc,
      example = "false"
    )
  )

  /** Milliseconds; None if the text is neither a number of days nor one of Spark's time strings. */
  def retentionMillis(text: String): Option[Long] =
    try {
      val trimmed = text.trim
      val time = if (trimmed.nonEmpty && trimmed.forall(_.isDigit)) s"${trimmed}d" else trimmed
      Some(JavaUtils.timeStringAsMs(time)).filter(_ >= 0)
    } catch { case _: IllegalArgumentException => None }

  private def code(value: String): String = s"`$value`"
}
