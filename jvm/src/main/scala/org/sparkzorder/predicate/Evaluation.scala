package org.sparkzorder.predicate

import java.util.BitSet

import org.sparkzorder.stats.StatsTable

/**
 * Predicates over the statistics of many files at once. Pure: it neither reads files nor writes to
 * a log.
 */
object Evaluation {

  /**
   * The outcomes that rows of each file may have: one mask of [[Outcomes]] for each file. It is 0
   * for a file without rows. Of a column without statistics nothing is known, so every outcome is
   * possible.
   */
  def outcomes(predicate: StatsPredicate, table: StatsTable): Array[Byte] =
    OutcomeEvaluation(affordable(predicate, table), table)

  /** The files that may hold a row for which the predicate is true; all others can be skipped. */
  def keep(predicate: StatsPredicate, table: StatsTable): BitSet =
    BitmapEvaluation(affordable(predicate, table), table)

  /** The predicate, or the one without ranges if these would take longer than they can save. */
  private def affordable(predicate: StatsPredicate, table: StatsTable): StatsPredicate = {
    val cost = predicate.rangeCost
    if (cost > FewFunctions && cost.toLong * table.files > MostFunctions) predicate.withoutRanges else predicate
  }

  private val FewFunctions = 60

  /** Each takes a microsecond or a few. */
  private val MostFunctions = 100000L
}
