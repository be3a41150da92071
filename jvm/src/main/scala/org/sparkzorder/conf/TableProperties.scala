package org.sparkzorder.conf

/**
 * A line of the reference page about settings, in words for users.
 *
 * @param key the name of a session setting or of a table property
 * @param valueType how its value is written
 * @param range the values that are allowed
 * @param default what holds where it is not set
 * @param description what it does, in a sentence or two
 * @param example a value as a user would write it
 */
final case class Setting(
    key: String,
    valueType: String,
    default: String,
    range: String,
    description: String,
    example: String
)

/** All table properties that mean something to spark-zorder. Nothing else knows their names. */
object TableProperties {

  val excludedColumns: Setting = Setting(
    key = "zorder.index.exclude-columns",
    valueType = "column names",
    default = "none",
    range = "column names separated by commas",
    description =
      "Columns whose values must not get into the side folder `_zorder`. They have no statistics, so queries " +
        "cannot skip files by them. The name of a struct stands for all its fields.",
    example = "card, person.name"
  )

  val historyRetention: Setting = Setting(
    key = "zorder.history.retention",
    valueType = "time",
    default = "as `spark.zorder.history.retention` says",
    range = "a number of days, or a time such as `12h`",
    description =
      "How long the history keeps operations of this table whose retired files are deleted. It takes precedence " +
        "over the session's setting.",
    example = "7"
  )

  val historyMaxOperations: Setting = Setting(
    key = "zorder.history.max-operations",
    valueType = "whole number",
    default = "as `spark.zorder.history.max-operations` says",
    range = "1 or more",
    description =
      "How many operations the history of this table keeps. It takes precedence over the session's setting.",
    example = "200"
  )

  val optimizeBy: Setting = Setting(
    key = "zorder.optimize.by",
    valueType = "layout",
    default = "the columns of `CLUSTER BY`, if the table has some",
    range = "columns with weights, or `HILBERT BY`, `ORDER BY` or `ZORDER BY` with columns",
    description =
      "The layout of an `OPTIMIZE` that names none. Partitions that a statement with `WHERE` laid out otherwise keep " +
        "their layout.",
    example = "day WEIGHT 2, user"
  )

  val writeOrder: Setting = Setting(
    key = "zorder.write.order",
    valueType = "word",
    default = "`local` for a table with `CLUSTER BY`, else `none`",
    range = "`local` or `none`",
    description =
      "Whether each task of an `INSERT` or of a `CREATE TABLE AS SELECT` sorts its rows by the layout of the table.",
    example = "local"
  )

  val targetFileSize: Setting = Setting(
    key = "zorder.target-file-size-bytes",
    valueType = "size",
    default = "by the size of the table",
    range = "1 byte or more",
    description = "The size of new files for each `OPTIMIZE` that sets neither a size nor a number of files.",
    example = "128MB"
  )

  val retainHours: Setting = Setting(
    key = "zorder.retain-hours",
    valueType = "whole number",
    default = "168",
    range = "0 or more",
    description = "How many hours `VACUUM` keeps the files that an `OPTIMIZE` replaces, if its options do not say.",
    example = "24"
  )

  val commitMode: Setting = Setting(
    key = "zorder.commit.mode",
    valueType = "word",
    default = "as for the table before, else `in-place`",
    range = "`in-place` or `new-location`",
    description = "How the files of an `OPTIMIZE` come into the table, if its options do not say.",
    example = "new-location"
  )

  val maintenance: Setting = Setting(
    key = "zorder.maintenance.enabled",
    valueType = "boolean",
    default = "`true`",
    range = "`true` or `false`",
    description = "Whether `spark-zorder optimize --schema` and `vacuum --schema` touch the table.",
    example = "false"
  )

  /** In the order of the reference page. */
  val all: Seq[Setting] =
    Seq(
      optimizeBy,
      writeOrder,
      targetFileSize,
      retainHours,
      commitMode,
      maintenance,
      excludedColumns,
      historyRetention,
      historyMaxOperations
    )
}
