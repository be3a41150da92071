package org.sparkzorder.workload

import org.sparkzorder.compat._
import org.sparkzorder.layout.LayoutSpec

/**
 * The chosen layout.
 *
 * @param touched about which share of the files a query touches with it
 * @param naive the share with all columns that queries ask for, at equal weights, along a Z-order curve
 * @param current the share with the layout that the table has, if that is known
 * @param kept whether the chosen layout is the one that the table has
 * @param runnerUp the best of the other layouts that were tried, if there were any; one that differs only in weights is
 *   not another
 */
final case class ChosenTrial(
    trial: Trial,
    touched: Double,
    naive: Double,
    current: Option[Double],
    kept: Boolean,
    runnerUp: Option[RunnerUp]
)

/** @param touched about which share of the files a query touches with the layout */
final case class RunnerUp(trial: Trial, touched: Double)

/**
 * Chooses columns, weights and curve so that the recorded queries touch few files of the sample. It goes step by step:
 *  - First the column that helps most, then the next one, as long as one helps.
 *  - Then the weights. Each is tried with two and four times as much, and with a half and a quarter. Two is not enough,
 *    as a single bit of the curve may change nothing.
 *  - Then the other curves.
 */
object LayoutChooser {

  /** The share of the touched files that a further column, weight or curve must save. Less may be chance. */
  private val WorthWhile = 0.02

  /** The share of the touched files that another layout must save, since it makes OPTIMIZE rewrite all files. */
  private val WorthRewriting = 0.1

  /** How often all weights are tried again. */
  private val Rounds = 3

  private val MaxWeight = 64d

  /**
   * @param columns the columns to choose from, those of most queries first
   * @param most the most columns of a layout
   * @param current the table's layout, if it is one of these columns
   */
  def choose(
      estimate: LayoutEstimate,
      columns: Seq[ConstrainedColumn],
      most: Int,
      current: Option[Trial]
  ): ChosenTrial =
    new LayoutChooser(estimate).choose(columns, most, current)

  private final case class Measured(trial: Trial, touched: Double) {
    def isBetterThan(other: Measured): Boolean = touched < other.touched * (1 - WorthWhile)

    /** Whether it is another layout, not only one with other weights. */
    def differsFrom(other: Trial): Boolean =
      trial.curve != other.curve || trial.columns.map(_._1.path).toSet != other.columns.map(_._1.path).toSet
  }
}

private final class LayoutChooser(estimate: LayoutEstimate) {
  import LayoutChooser._

  private val tried = scala.collection.mutable.ArrayBuffer.empty[Measured]

  def choose(columns: Seq[ConstrainedColumn], most: Int, current: Option[Trial]): ChosenTrial = {
    val naive = measured(Trial(LayoutSpec.ZOrder, columns.take(most).map(_ -> 1d)))
    val grown = measured(grow(columns, most))
    val start = if (naive.isBetterThan(grown)) naive else grown
    val best = withBestCurve(withBestWeights(start))
    current.map(measured(_)) match {
      case Some(now) if now.touched * (1 - WorthRewriting) <= best.touched =>
        ChosenTrial(now.trial, now.touched, naive.touched, Some(now.touched), kept = true, runnerUp(now.trial))
      case now =>
        ChosenTrial(best.trial, best.touched, naive.touched, now.map(_.touched), kept = false, runnerUp(best.trial))
    }
  }

  private def measured(trial: Trial): Measured = {
    val found = Measured(trial, estimate.touched(trial))
    tried += found
    found
  }

  private def runnerUp(chosen: Trial): Option[RunnerUp] =
    tried.filter(_.differsFrom(chosen)).minByOption(_.touched).map(m => RunnerUp(m.trial, m.touched))

  /** The columns that help, at equal weights along a Z-order curve. */
  private def grow(columns: Seq[ConstrainedColumn], most: Int): Trial = {
    def step(chosen: Measured, left: Seq[ConstrainedColumn]): Trial = {
      val has = chosen.trial.columns
      if (left.isEmpty || has.length == most) chosen.trial
      else {
        val longer = left.map(c => measured(chosen.trial.copy(columns = has :+ (c -> 1d)))).minBy(_.touched)
        if (has.isEmpty || longer.isBetterThan(chosen)) step(longer, left.filterNot(_ eq longer.trial.columns.last._1))
        else chosen.trial
      }
    }
    step(Measured(Trial(LayoutSpec.ZOrder, Nil), 1d), columns)
  }

  private def withBestWeights(start: Measured): Measured = {
    val columns = start.trial.columns.indices
    val steps = for { _ <- 0 until Rounds; i <- columns; factor <- Seq(2d, 0.5, 4d, 0.25) } yield (i, factor)
    val best =
      if (columns.length == 1) start
      else
        steps.foldLeft(start) { case (best, (i, factor)) =>
          val (column, weight) = best.trial.columns(i)
          if (weight * factor > MaxWeight || weight * factor < 1 / MaxWeight) best
          else {
            val weights = best.trial.columns.updated(i, column -> weight * factor)
            val other = measured(best.trial.copy(columns = weights))
            if (other.isBetterThan(best)) other else best
          }
        }
    // Only the ratios of weights matter, so the least weight becomes 1.
    val least = best.trial.columns.map(_._2).min
    best.copy(trial = best.trial.copy(columns = best.trial.columns.map { case (c, w) => c -> w / least }))
  }

  private def withBestCurve(start: Measured): Measured =
    if (start.trial.columns.length == 1) start
    else {
      val sorted = start.trial.columns.sortBy(-_._2).map { case (c, _) => c -> 1d }
      val others = Seq(start.trial.copy(curve = LayoutSpec.Hilbert), Trial(LayoutSpec.Order, sorted))
      others.map(measured(_)).foldLeft(start)((best, other) => if (other.isBetterThan(best)) other else best)
    }
}
