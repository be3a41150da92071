package org.sparkzorder.optimize.auto

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{DoubleType, LongType, StringType, StructType}

/**
 * What AUTO chose, and why.
 *
 * @param layout the chosen layout, as SQL
 * @param queries how many recorded queries it was chosen for
 * @param touched the estimated share of the files that such a query touches
 * @param equalWeights the same share if all columns that the queries ask for had equal weights
 * @param runnerUp the second-best layout, as SQL, with its share; None if no other was tried
 */
private[sparkzorder] final case class AutoReport(
    layout: String,
    reason: String,
    queries: Long,
    touched: Double,
    equalWeights: Double,
    runnerUp: Option[(String, Double)]
) {
  def row: Row =
    Row(layout, reason, queries, touched, equalWeights, runnerUp.map(_._1).orNull, runnerUp.map(_._2).orNull)
}

private[sparkzorder] object AutoReport {
  val schema: StructType = new StructType()
    .add("layout", StringType, nullable = false)
    .add("reason", StringType, nullable = false)
    .add("queries", LongType, nullable = false)
    .add("touchedShare", DoubleType, nullable = false)
    .add("touchedShareEqualWeights", DoubleType, nullable = false)
    .add("runnerUp", StringType)
    .add("touchedShareRunnerUp", DoubleType)
}
