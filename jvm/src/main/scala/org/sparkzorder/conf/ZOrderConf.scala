package org.sparkzorder.conf

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.SparkOwn.{ConfigBuilder, ConfigEntry}

/**
 * All session settings. Nothing else knows their names.
 *
 * `docs/reference/settings.md` is written from [[ZOrderConf.all]] and [[TableProperties.all]].
 * ReferencePagesSuite fails when they differ.
 */
object ZOrderConf {
  private val declared = Seq.newBuilder[Setting]

  val skippingEnabled: ConfigEntry[Boolean] = flag("spark.zorder.skipping.enabled", default = true)(
    "Whether queries skip files that cannot contain a matching row. The results are the same either way."
  )

  val trustListing: ConfigEntry[Boolean] = flag("spark.zorder.skipping.trust-listing", default = false)(
    "Whether queries skip files by the file listing that the session keeps, without looking at the storage again. This " +
      "is faster on object stores. Results are wrong if another program overwrites files in place during the session."
  )

  val aggregatesEnabled: ConfigEntry[Boolean] = flag("spark.zorder.aggregates.enabled", default = true)(
    "Whether `count`, `min` and `max` are answered from the index for files in which the filter is true of every row. " +
      "The results are the same either way, but for rows that Spark's own reader misses."
  )

  val topKEnabled: ConfigEntry[Boolean] = flag("spark.zorder.topk.enabled", default = true)(
    "Whether `ORDER BY .. LIMIT` reads only files that may hold one of the first rows, as far as the index tells. The " +
      "results are the same either way, but for rows that Spark's own reader misses."
  )

  val joinsEnabled: ConfigEntry[Boolean] = flag("spark.zorder.joins.enabled", default = true)(
    "Whether a scan leaves out files by the keys of the other side of a join, if Spark broadcasts that side. The results " +
      "are the same either way."
  )

  val memoryEnabled: ConfigEntry[Boolean] = flag("spark.zorder.memory.enabled", default = true)(
    "Whether queries remember the files in which no row passed their filter, and skip them when a filter that asks for " +
      "no more comes again. This works for tables with an index."
  )

  val indexCacheMaxBytes: ConfigEntry[Option[Long]] = setting(
    key = "spark.zorder.index.cache.max-bytes",
    valueType = "whole number",
    default = _ => "268435456 (256 MiB), or a tenth of the driver's heap if that is less",
    range = "0 or more",
    description =
      "How much of the driver's memory cached statistics may take, in bytes. The least recently used ones are dropped first.",
    example = "1073741824"
  )(_.longConf.checkValue(_ >= 0, "must be at least 0 bytes").createOptional)

  val workloadEnabled: ConfigEntry[Boolean] = flag("spark.zorder.workload.enabled", default = false)(
    "Whether queries record which columns they filter on, and where in the columns, for `ZORDER BY AUTO`. No value is " +
      "recorded."
  )

  val lockTimeoutSeconds: ConfigEntry[Long] = setting(
    key = "spark.zorder.lock.timeout",
    valueType = "seconds",
    default = identity,
    range = "10 or more",
    description =
      "The seconds without a heartbeat after which the owner of a table's lock counts as dead, if it ran on another host.",
    example = "120"
  )(_.longConf.checkValue(_ >= 10, "must be at least 10 seconds").createWithDefault(60))

  val historyRetention: ConfigEntry[String] = setting(
    key = "spark.zorder.history.retention",
    valueType = "time",
    default = days => s"$days (days)",
    range = "a number of days, or a time such as `12h`",
    description =
      "How long the history keeps an operation whose retired files are deleted. `VACUUM` forgets older ones. The table " +
        "property `zorder.history.retention` takes precedence.",
    example = "90"
  )(
    _.stringConf
      .checkValue(retentionMillis(_).isDefined, "must be a number of days, or a time such as '12h'")
      .createWithDefault("30")
  )

  val historyMaxOperations: ConfigEntry[Int] = setting(
    key = "spark.zorder.history.max-operations",
    valueType = "whole number",
    default = identity,
    range = "1 or more",
    description =
      "How many operations the history keeps. `VACUUM` forgets the oldest ones whose retired files are deleted. The table " +
        "property `zorder.history.max-operations` takes precedence.",
    example = "200"
  )(_.intConf.checkValue(_ > 0, "must be at least 1").createWithDefault(1000))

  val columnwise: ConfigEntry[Boolean] = flag("spark.zorder.write.columnwise", default = true)(
    "Whether `OPTIMIZE` writes Parquet files of flat columns column by column and with its own dictionaries. Otherwise " +
      "Spark's writer and parquet-java do it, which takes longer. The values are the same either way."
  )

  val progressEnabled: ConfigEntry[Boolean] = flag("spark.zorder.progress.enabled", default = true)(
    "Whether a statement shows its progress: a line in the log every ten seconds, and a bar where Spark draws its own. " +
      "The methods of `ZOrderTable` draw one in notebooks and over Spark Connect."
  )

  /** In the order of the reference page. */
  val all: Seq[Setting] = declared.result()

  /** Milliseconds; None if the text is neither a number of days nor one of Spark's time strings. */
  def retentionMillis(text: String): Option[Long] =
    try {
      val trimmed = text.trim
      val time = if (trimmed.nonEmpty && trimmed.forall(_.isDigit)) s"${trimmed}d" else trimmed
      Some(JavaUtils.timeStringAsMs(time)).filter(_ >= 0)
    } catch { case _: IllegalArgumentException => None }

  private def flag(key: String, default: Boolean)(description: String): ConfigEntry[Boolean] = setting(
    key = key,
    valueType = "boolean",
    default = value => s"`$value`",
    range = "`true` or `false`",
    description = description,
    example = (!default).toString
  )(_.booleanConf.createWithDefault(default))

  /** @param default from the default value to what the reference page shows */
  private def setting[T](
      key: String,
      valueType: String,
      default: String => String,
      range: String,
      description: String,
      example: String
  )(entry: ConfigBuilder => ConfigEntry[T]): ConfigEntry[T] = {
    val made = entry(SQLConf.buildConf(key).doc(description).version("0.1.0"))
    declared += Setting(key, valueType, default(made.defaultValueString), range, description, example)
    made
  }
}

/** Sessions of our own, in which a setting has another value than in the caller's. */
private[sparkzorder] object SessionCopy {

  /** A new session with the settings of `caller`, except for these. Static settings are those of the application. */
  def of(caller: SparkSession, settings: Map[String, String]): SparkSession = {
    val copy = caller.newSession()
    (caller.sessionState.conf.getAllConfs ++ settings).foreach { case (key, value) =>
      if (!SQLConf.isStaticConfigKey(key)) copy.sessionState.conf.setConfString(key, value)
    }
    copy
  }
}
