package org.sparkzorder.workload

import org.sparkzorder.compat._

/**
 * Ranks in place of those of values that no statistics rank. They are spread evenly, as the multiples of the golden ratio
 * are modulo 1. So no part of the column counts as asked for more than others, and nothing is told of the values.
 *
 * A range with two ends gets a quarter of the rows, see P. Selinger et al., Access Path Selection in a Relational
 * Database Management System, SIGMOD 1979, table 1.
 *
 * For example, the first three values get 0.62, 0.24 and 0.85.
 */
final class AssumedRanks {
  import AssumedRanks._

  private var count = 0L

  /** None if the constraint allows every value. */
  def observed(use: Form => ColumnUse, asked: ColumnConstraint): Option[ObservedUse] = asked match {
    case ColumnConstraint.Values(values) =>
      val ranks = Seq.fill(math.min(values.size, ColumnConstraint.MaxValues))(next())
      Some(ObservedUse(use(if (values.size == 1) Form.Equal else Form.In), ranks.sorted, Nil))
    case ColumnConstraint.Between(Some(_), Some(_)) =>
      val low = next() * (1 - OfRange)
      Some(ObservedUse(use(Form.Range), Seq(low), Seq(low + OfRange)))
    case ColumnConstraint.Between(low, high) =>
      Option.when(low.orElse(high).isDefined) {
        val end = Seq(next())
        ObservedUse(use(Form.Range), if (low.isDefined) end else Nil, if (high.isDefined) end else Nil)
      }
  }

  private def next(): Double = {
    count += 1
    (count * GoldenRatio) % 1
  }
}

private object AssumedRanks {
  private val GoldenRatio = (math.sqrt(5) - 1) / 2
  private val OfRange = 0.25
}
