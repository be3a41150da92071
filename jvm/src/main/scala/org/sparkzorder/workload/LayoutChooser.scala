package org.sparkzorder.workload

import org.sparkzorder.layout.LayoutSpec

/**
 * @param touched share of the files that a query touches with it, about
 * @param naive the same with all columns that are asked for, at equal weights, along a Z-order curve
 * @param current the same with the layout that the table has, if it is known
 * @param kept whether the chosen one is the one that the table has
 */
final case class Choice(trial: Trial, touched: Double, naive: Double, current: Option[Double], kept: Boolean)

/**
 * Columns, weights and curve by which the recorded queries touch the fewest files of the sample, step by step: the column
 * that helps most, then the next one as long as one helps; then weights, each two or four times as much or as little, since
 * a bit of the curve more may change nothing; then the other curves.
 */
object LayoutChooser {

  /** Of the files touched, what a further column, a weight or another curve has to save. What is less may be chance. */
  private val WorthWhile = 0.02

  /** What another layout has to save: it has all files written anew. */
  private val WorthRewriting = 0.1

  /** Times that all weights are looked at again. */
  private val Rounds = 3

  private val MaxWeight = 64d

  /**
   * @param columns to choose from, those of most queries first
   * @param most columns of a layout
   * @param current the table's layout, when it is of these columns
   */
  def choose(estimate: LayoutEstimate, columns: Seq[ConstrainedColumn], most: Int, current: Option[Trial]): Choice = {
    val naive = Trial(LayoutSpec.ZOrder, columns.take(most).map(_ -> 1d))
    val grown = grow(estimate, columns, most)
    val start = best(estimate, Seq(naive, grown))
    val weighted = weigh(estimate, start._1, start._2)
    val (trial, touched) = curve(estimate, weighted._1, weighted._2)
    val now = current.map(t => t -> estimate.touched(t))
    now match {
      case Some((t, cost)) if cost * (1 - WorthRewriting) <= touched =>
        Choice(t, cost, start._3, Some(cost), kept = true)
      case _ => Choice(trial, touched, start._3, now.map(_._2), kept = false)
    }
  }

  /** The second one, unless the first is better by as much as counts; and what the first one costs. */
  private def best(estimate: LayoutEstimate, trials: Seq[Trial]): (Trial, Double, Double) = {
    val costs = trials.map(estimate.touched)
    if (costs.head < costs.last * (1 - WorthWhile)) (trials.head, costs.head, costs.head)
    else (trials.last, costs.last, costs.head)
  }

  private def grow(estimate: LayoutEstimate, columns: Seq[ConstrainedColumn], most: Int): Trial = {
    def step(chosen: Trial, cost: Double, left: Seq[ConstrainedColumn]): Trial =
      if (left.isEmpty || chosen.columns.length == most) chosen
      else {
        val (next, with1) = left
          .map(c => c -> estimate.touched(chosen.copy(columns = chosen.columns :+ (c -> 1d))))
          .minBy(_._2)
        if (with1 < cost * (1 - WorthWhile) || chosen.columns.isEmpty)
          step(chosen.copy(columns = chosen.columns :+ (next -> 1d)), with1, left.filterNot(_ eq next))
        else chosen
      }
    step(Trial(LayoutSpec.ZOrder, Nil), 1d, columns)
  }

  private def weigh(estimate: LayoutEstimate, trial: Trial, cost: Double): (Trial, Double) = {
    val steps =
      for { _ <- 0 until Rounds; i <- trial.columns.indices; factor <- Seq(2d, 0.5, 4d, 0.25) } yield (i, factor)
    val (weighted, touched) =
      if (trial.columns.length == 1) (trial, cost)
      else
        steps.foldLeft((trial, cost)) { case ((best, least), (i, factor)) =>
          val (column, weight) = best.columns(i)
          if (weight * factor > MaxWeight || weight * factor < 1 / MaxWeight) (best, least)
          else {
            val other = best.copy(columns = best.columns.updated(i, column -> weight * factor))
            val touched = estimate.touched(other)
            if (touched < least * (1 - WorthWhile)) (other, touched) else (best, least)
          }
        }
    // Only the ratios of weights count.
    val least = weighted.columns.map(_._2).min
    (weighted.copy(columns = weighted.columns.map { case (c, w) => c -> w / least }), touched)
  }

  private def curve(estimate: LayoutEstimate, trial: Trial, cost: Double): (Trial, Double) =
    if (trial.columns.length == 1) (trial, cost)
    else {
      val sorted = trial.columns.sortBy(-_._2).map { case (c, _) => c -> 1d }
      Seq(trial.copy(curve = LayoutSpec.Hilbert), Trial(LayoutSpec.Order, sorted)).foldLeft((trial, cost)) {
        case ((best, least), other) =>
          val touched = estimate.touched(other)
          if (touched < least * (1 - WorthWhile)) (other, touched) else (best, least)
      }
    }
}
