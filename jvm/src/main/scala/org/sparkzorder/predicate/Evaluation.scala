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
  def outcomes(predicate: StatsPredicate, table: StatsTable): Array[Byte] = OutcomeEvaluation(predicate, table)

  /** The files that may hold a row for which the predicate is true; all others can be skipped. */
  def keep(predicate: StatsPredicate, table: StatsTable): BitSet = BitmapEvaluation(predicate, table)

  /** The predicate's columns for which the table has no statistics. */
  def withoutStatistics(predicate: StatsPredicate, table: StatsTable): Set[Column] =
    predicate.columns.filter(c => table.column(c.path, c.dataType).isEmpty)
}
