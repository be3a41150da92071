package org.sparkzorder.optimize.auto

import java.util.Locale

import org.sparkzorder.optimize.ChosenLayout
import org.sparkzorder.workload.{Choice, ColumnUse, Form, KindSketch, WorkloadSketch}

/** Puts AUTO's choice into words. */
private[sparkzorder] object AutoReason {

  /** How many kinds of queries the text lists. */
  private val MostKinds = 5

  /**
   * @param sketch the queries that were considered
   * @param files how many files the shares are about, if the folders are going to have another number
   */
  def of(choice: Choice, sketch: WorkloadSketch, queryShare: Double, files: Option[Int]): String = {
    val kinds = sketch.ranked
    val more = if (kinds.length > MostKinds) s", and ${kinds.length - MostKinds} other kinds" else ""
    val asked = kinds.take(MostKinds).map { case (kind, s) => told(kind, s) }.mkString(", ")
    val current = choice.current match {
      case Some(share) if choice.kept => s"; the layout that the table has is kept, as no other saves a tenth of that"
      case Some(share)                => s", with the last layout ${percent(share)}"
      case None                       => ""
    }
    val room = if (queryShare > 0) s"; ${percent(queryShare)} of the room is given to the values asked for" else ""
    val of = files.fold("the")(_.toString)
    s"${count(sketch.queries)} recorded: $asked$more. One touches about ${percent(choice.touched)} of $of files, " +
      s"with all these columns at equal weights ${percent(choice.naive)}$current$room"
  }

  private def told(kind: Seq[ColumnUse], sketch: KindSketch): String =
    s"${sketch.queries} by ${kind.map(u => ChosenLayout.name(u.path) + sign(u.form)).mkString(" and ")}"

  private def sign(form: Form): String = form match {
    case Form.Equal => " ="
    case Form.In    => " IN"
    case Form.Range => " from..to"
  }

  private def count(n: Long): String = if (n == 1) "1 query" else s"$n queries"

  private def percent(share: Double): String = String.format(Locale.ROOT, "%.1f %%", Double.box(100 * share))
}
