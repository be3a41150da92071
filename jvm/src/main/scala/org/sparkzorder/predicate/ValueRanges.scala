package org.sparkzorder.predicate

import org.sparkzorder.stats.ByteBounds

/**
 * The values from `low` to `high`, both included. Null comes before all other values, NaN after them.
 *
 * @param low None when there is no least value; then null is included
 * @param high None when there is no greatest value; then NaN is included
 */
final case class ValueRange(low: Option[Value], high: Option[Value])

/**
 * The box around all rows for which a predicate is true: such a row has, in each of these columns, a value of the
 * column's range. Other columns may have any value. A range that is too large is always right.
 */
object ValueRanges {

  def of(predicate: StatsPredicate): Map[Column, ValueRange] = predicate match {
    case And(left, right) =>
      val (a, b) = (of(left), of(right))
      (a.keySet ++ b.keySet).map { c =>
        c -> ((a.get(c), b.get(c)) match {
          case (Some(x), Some(y)) => ValueRange(later(x.low, y.low), earlier(x.high, y.high))
          case (x, y)             => x.orElse(y).get
        })
      }.toMap
    case Or(left, right) =>
      val (a, b) = (of(left), of(right))
      (a.keySet & b.keySet).flatMap { c =>
        val hull = ValueRange(
          a(c).low.flatMap(x => b(c).low.map(y => least(x, y))),
          a(c).high.flatMap(x => b(c).high.map(y => greatest(x, y)))
        )
        if (hull.low.isEmpty && hull.high.isEmpty) None else Some(c -> hull)
      }.toMap
    case Comparison(column, operator, value) =>
      operator match {
        case Operator.Equal | Operator.NullSafeEqual    => Map(column -> ValueRange(Some(value), Some(value)))
        case Operator.Less | Operator.LessOrEqual       => Map(column -> ValueRange(None, Some(value)))
        case Operator.Greater | Operator.GreaterOrEqual => Map(column -> ValueRange(Some(value), None))
        case Operator.NotEqual                          => Map.empty
      }
    case In(column, values, _) if values.nonEmpty => Map(column -> ValueRange(Some(values.head), Some(values.last)))
    case StartsWith(column, prefix)               =>
      Map(column -> ValueRange(Some(prefix), Option(ByteBounds.after(prefix.bytes)).map(new BytesValue(_))))
    case _ => Map.empty
  }

  private def later(a: Option[Value], b: Option[Value]): Option[Value] = (a ++ b).reduceOption(greatest)
  private def earlier(a: Option[Value], b: Option[Value]): Option[Value] = (a ++ b).reduceOption(least)
  private def least(a: Value, b: Value): Value = if (Value.ordering.lteq(a, b)) a else b
  private def greatest(a: Value, b: Value): Value = if (Value.ordering.lteq(a, b)) b else a
}
