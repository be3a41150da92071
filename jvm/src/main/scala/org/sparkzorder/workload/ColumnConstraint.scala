package org.sparkzorder.workload

import org.sparkzorder.compat._
import org.sparkzorder.predicate._

/** The values of one column that a filter asks for. */
sealed trait ColumnConstraint
object ColumnConstraint {

  final case class OneOf(values: Set[Value]) extends ColumnConstraint

  /** All values from `low` to `high`; None where the range has no end. */
  final case class Between(low: Option[Value], high: Option[Value]) extends ColumnConstraint

  /**
   * The constraint on each column that a row must meet to satisfy the filter. `<` counts as `<=`, and a column that is
   * not restricted is left out.
   */
  def of(filter: StatsPredicate): Map[Column, ColumnConstraint] = box(filter).getOrElse(Map.empty)

  /** None when no row satisfies the predicate. */
  private def box(p: StatsPredicate): Option[Map[Column, ColumnConstraint]] = p match {
    case Comparison(c, Operator.Equal | Operator.NullSafeEqual, v)    => Some(Map(c -> OneOf(Set(v))))
    case Comparison(c, Operator.Less | Operator.LessOrEqual, v)       => Some(Map(c -> Between(None, Some(v))))
    case Comparison(c, Operator.Greater | Operator.GreaterOrEqual, v) => Some(Map(c -> Between(Some(v), None)))
    case In(c, values, _)                               => Option.when(values.nonEmpty)(Map(c -> OneOf(values.toSet)))
    case StartsWith(c, prefix) if prefix.bytes.nonEmpty =>
      val last = new BytesValue(prefix.bytes ++ Array.fill[Byte](8)(-1))
      Some(Map(c -> Between(Some(prefix), Some(last))))
    case And(left, right) =>
      for { l <- box(left); r <- box(right) } yield (l.keySet ++ r.keySet).iterator.map(c =>
        c -> (l.get(c) ++ r.get(c)).reduce(both)
      ).toMap
    case Or(left, right) =>
      (box(left), box(right)) match {
        case (Some(l), Some(r)) => Some(l.keySet.intersect(r.keySet).iterator.map(c => c -> either(l(c), r(c))).toMap)
        case (l, r)             => l.orElse(r)
      }
    case Within(_, child) => box(child)
    case Const(value)     => Option.when(value.contains(true))(Map.empty)
    case _                => Some(Map.empty)
  }

  private def both(a: ColumnConstraint, b: ColumnConstraint): ColumnConstraint = (a, b) match {
    case (OneOf(v), OneOf(w))               => OneOf(if (v.size <= w.size) v else w)
    case (v: OneOf, _)                      => v
    case (_, v: OneOf)                      => v
    case (Between(l1, h1), Between(l2, h2)) =>
      val (low, high) = ((l1 ++ l2).maxOption(Value.ordering), (h1 ++ h2).minOption(Value.ordering))
      if (low.isDefined && low == high) OneOf(low.toSet) else Between(low, high)
  }

  private def either(a: ColumnConstraint, b: ColumnConstraint): ColumnConstraint = (a, b) match {
    case (OneOf(v), OneOf(w)) => OneOf(v ++ w)
    case _                    =>
      val ((l1, h1), (l2, h2)) = (ends(a), ends(b))
      Between(
        for { x <- l1; y <- l2 } yield Value.ordering.min(x, y),
        for { x <- h1; y <- h2 } yield Value.ordering.max(x, y)
      )
  }

  private def ends(a: ColumnConstraint): (Option[Value], Option[Value]) = a match {
    case OneOf(v)           => (Some(v.min(Value.ordering)), Some(v.max(Value.ordering)))
    case Between(low, high) => (low, high)
  }

  /** Of a longer list, only about so many values are recorded. */
  private[workload] val MaxValues = 64

  /**
   * The part of a constraint that is recorded: its form, and the ranks of its values. None if it allows every value.
   */
  def observed(use: Form => ColumnUse, asked: ColumnConstraint, axis: RankAxis): Option[ObservedUse] = asked match {
    case Between(None, None) => None
    case Between(low, high)  =>
      Some(ObservedUse(use(Form.Range), low.map(rank(axis, _)).toSeq, high.map(rank(axis, _)).toSeq))
    case OneOf(values) =>
      val ranks = values.toSeq.map(rank(axis, _)).sorted
      val step = (ranks.length + MaxValues - 1) / MaxValues
      val form = if (values.size == 1) Form.Equal else Form.In
      Some(ObservedUse(use(form), ranks.indices.by(step).map(ranks), Nil))
  }

  private def rank(axis: RankAxis, value: Value): Double = value match {
    case LongValue(v)  => axis.rank(v)
    case b: BytesValue => axis.rank(b.bytes)
  }
}

/**
 * Ranks in place of those of values that no statistics rank. They are spread evenly, as the multiples of the golden
 * ratio are modulo 1. So no part of the column counts as asked for more than others, and nothing is told of the values.
 *
 * A range with two ends gets a quarter of the rows, see P. Selinger et al., Access Path Selection in a Relational
 * Database Management System, SIGMOD 1979, table 1.
 *
 * For example, the first three values get 0.62, 0.24 and 0.85.
 */
final class AssumedRanks {

  private val goldenRatio = (math.sqrt(5) - 1) / 2
  private final val OfRange = 0.25

  private var count = 0L

  /** None if the constraint allows every value. */
  def observed(use: Form => ColumnUse, asked: ColumnConstraint): Option[ObservedUse] = asked match {
    case ColumnConstraint.OneOf(values) =>
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
    (count * goldenRatio) % 1
  }
}
