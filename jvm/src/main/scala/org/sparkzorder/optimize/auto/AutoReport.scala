package org.sparkzorder.optimize.auto

import java.util.Locale

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{DoubleType, LongType, StringType, StructType}

import org.sparkzorder.layout.LayoutSpec
import org.sparkzorder.optimize.ChosenLayout
import org.sparkzorder.workload.{ChosenTrial, ColumnUse, Form, KindSketch, Trial, WorkloadSketch}

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

/**
 * Puts AUTO's choice into words and figures.
 *
 * @param sketch the queries that were considered
 * @param files that a folder gets
 * @param compared files of a folder that the shares are about
 */
private[auto] final class AutoReason(sketch: WorkloadSketch, files: Long, compared: Int) {
  import AutoReason._

  def report(
      choice: ChosenTrial,
      queries: Long,
      chosen: LayoutSpec,
      specOf: Trial => LayoutSpec,
      leftOut: String
  ): AutoReport = {
    // Layouts differ from two files on, so they are compared for two where a folder gets one.
    def ofFolder(share: Double): Double = if (files == 1) 1d else share
    AutoReport(
      layout = ChosenLayout.sql(chosen),
      reason = text(choice, chosen.queryShare) + leftOut,
      queries,
      touched = ofFolder(choice.touched),
      equalWeights = ofFolder(choice.naive),
      runnerUp = choice.runnerUp.map(r => ChosenLayout.sql(specOf(r.trial)) -> ofFolder(r.touched))
    )
  }

  private def text(choice: ChosenTrial, queryShare: Double): String = {
    val kinds = sketch.ranked
    val more = if (kinds.length > MostKinds) s", and ${kinds.length - MostKinds} other kinds" else ""
    val asked = kinds.take(MostKinds).map { case (kind, s) => textOf(kind, s) }.mkString(", ")
    val current = choice.current match {
      case Some(share) if choice.kept => s"; the layout that the table has is kept, as no other saves a tenth of that"
      case Some(share)                => s", with the last layout ${percent(share)}"
      case None                       => ""
    }
    val room = if (queryShare > 0) s"; ${percent(queryShare)} of the room is given to the values asked for" else ""
    val of = if (compared == files) "the" else compared.toString
    s"${count(sketch.queries)} recorded: $asked$more. One touches about ${percent(choice.touched)} of $of files, " +
      s"with all these columns at equal weights ${percent(choice.naive)}$current$room"
  }
}

private object AutoReason {
  private val MostKinds = 5

  private def textOf(kind: Seq[ColumnUse], sketch: KindSketch): String =
    s"${sketch.queries} by ${kind.map(u => ChosenLayout.name(u.path) + sign(u.form)).mkString(" and ")}"

  private def sign(form: Form): String = form match {
    case Form.Equal => " ="
    case Form.In    => " IN"
    case Form.Range => " from..to"
  }

  private def count(n: Long): String = if (n == 1) "1 query" else s"$n queries"

  private def percent(share: Double): String = String.format(Locale.ROOT, "%.1f %%", Double.box(100 * share))
}
