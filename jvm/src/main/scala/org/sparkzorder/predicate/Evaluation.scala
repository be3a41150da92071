package org.sparkzorder.predicate

import java.util.BitSet

import org.sparkzorder.stats.StatsTable

/** Predicates over the statistics of many files at once. */
object Evaluation {

  /** One mask of [[Outcomes]] for each file, 0 for one without rows. Without statistics every outcome is possible. */
  def outcomes(predicate: StatsPredicate, table: StatsTable): Array[Byte] =
    new OutcomeEvaluation(table, affordsRanges(predicate, table))(predicate)

  /** The files that may hold a row for which the predicate is true; all others can be skipped. */
  def keep(predicate: StatsPredicate, table: StatsTable): BitSet =
    new BitmapEvaluation(table, affordsRanges(predicate, table))(predicate)

  /** Whether ranges take no longer than they can save. */
  private def affordsRanges(predicate: StatsPredicate, table: StatsTable): Boolean = {
    val cost = predicate.rangeCost
    cost <= FewFunctions || cost.toLong * table.files <= MostFunctions
  }

  private val FewFunctions = 60

  /** Each takes a microsecond or a few. */
  private val MostFunctions = 100000L
}
