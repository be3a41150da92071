package org.sparkzorder.conf

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
      "How long the history keeps finished operations of this table. It takes precedence over the session's " +
        "setting.",
    example = "7"
  )

  /** In the order of the reference page. */
  val all: Seq[Setting] = Seq(excludedColumns, historyRetention)
}
