package org.sparkzorder.predicate

import java.math.BigInteger

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GreaterThan, GreaterThanOrEqual}
import org.apache.spark.sql.catalyst.expressions.{LessThan, LessThanOrEqual, Literal}

/**
 * One or more of [[MonotoneStep]], one upon the other, over a column: casts, `year(c)`, `c + 1`, `year(c) + 1`..
 *
 * Proof. The column's type is a finite [[DiscreteDomain]]. Let f give a value for every x from a to b of it, and be rising there:
 * x <= y implies f(x) <= f(y). Then `{x : f(x) < v}` holds, with each of its values, every smaller one down to a. So
 * there is a first value t outside of that set, and `f(x) < v` is `x < t` for every x from a to b. Likewise `f(x) <= v`
 * is `x < u` with u the first value for which it does not hold, and u is not below t. `>`, `>=` and `<>` are negations;
 * `f(x) = v` is `t <= x < u`. If t is a, `f(x) < v` is false for all of them; if there is no t it is true for all. A
 * null x gives null. f need not be one-to-one (long to double): then t and u lie further apart. v need not be an f(x)
 * (`cast(int) = 1.5`): then t = u.
 *
 * Falling functions turn the ends round: with u the first value for which `f(x) <= v` and t, not below u, the first for
 * which `f(x) < v`, the latter is `x >= t`, the former `x >= u`, and `f(x) = v` is `u <= x < t`.
 *
 * A step upon such a function is one again: of two rising or two falling it is rising, else falling, and what the inner
 * function takes into the step's own domain are neighbours from a to b, since the ends of that domain are comparisons as
 * above.
 *
 * Below a and above b anything may be true: c + 1 wraps or throws, a time zone has changed its mind. There a file is
 * read, so an overflow that Spark would report is not hidden by the conjunct that overflows.
 *
 * All places are found by bisection with Spark's own functions and comparisons, so rounding, NaN and infinities are
 * Spark's.
 */
private[predicate] final class MonotoneFunction private (
    val column: Column,
    chain: DiscreteDomain,
    body: Expression,
    rising: Boolean,
    from: BigInteger,
    to: BigInteger
) extends ColumnFunction {
  import ColumnFunction._

  protected lazy val domain: Option[StatsPredicate] = {
    val low = if (from == chain.first) None else Some(Comparison(column, Operator.GreaterOrEqual, value(from)))
    val high = if (to == chain.last) None else Some(Comparison(column, Operator.LessOrEqual, value(to)))
    (low ++ high).reduceOption[StatsPredicate](And(_, _))
  }

  protected def less(v: Literal): StatsPredicate =
    if (rising) below(notLess(v)) else Not(below(firstLess(v)))

  protected def lessOrEqual(v: Literal): StatsPredicate =
    if (rising) below(greater(v)) else Not(below(notGreater(v)))

  protected def equal(v: Literal): StatsPredicate =
    if (rising) between(notLess(v), greater(v)) else between(notGreater(v), firstLess(v))

  // The first places of which this can be said; the place after the last one if none.
  private def notLess(v: Literal): BigInteger = first(LessThan(body, v))
  private def greater(v: Literal): BigInteger = first(LessThanOrEqual(body, v))
  private def notGreater(v: Literal): BigInteger = first(GreaterThan(body, v))
  private def firstLess(v: Literal): BigInteger = first(GreaterThanOrEqual(body, v))

  /** The function that `e` is when `step` is taken upon this one; None if that is nowhere known to keep an order. */
  private def andThen(e: Expression, step: MonotoneStep): Option[MonotoneFunction] = {
    val inner = step.argument.dataType
    val low = step.from.map(Literal(_, inner))
    val high = step.to.map(Literal(_, inner))
    val start = if (rising) low.map(notLess) else high.map(notGreater)
    val end = if (rising) high.map(greater) else low.map(firstLess)
    val a = start.getOrElse(from)
    val b = end.fold(to)(_.subtract(BigInteger.ONE))
    val upon = e.withNewChildren(e.children.map(c => if (c eq step.argument) body else c))
    if (a.compareTo(b) > 0) None
    else Some(new MonotoneFunction(column, chain, upon, rising == step.rising, a, b))
  }

  private def below(place: BigInteger): StatsPredicate =
    if (place == from) falseUnlessNull(column)
    else if (place.compareTo(to) > 0) trueUnlessNull(column)
    else Comparison(column, Operator.Less, value(place))

  private def between(start: BigInteger, end: BigInteger): StatsPredicate =
    if (start == end) falseUnlessNull(column)
    else {
      val lo = value(start)
      val hi = value(end.subtract(BigInteger.ONE))
      // Not only one element of the chain: -0.0 and 0.0 are two that are equal.
      if (lo == hi) Comparison(column, Operator.Equal, lo)
      else And(Comparison(column, Operator.GreaterOrEqual, lo), Comparison(column, Operator.LessOrEqual, hi))
    }

  private def value(place: BigInteger): Value = Value.of(column.dataType, chain.at(place))

  /** The first place at which a condition is false that stays false from there on, to + 1 if nowhere. */
  private def first(condition: Expression): BigInteger = {
    var low = from
    var high = to.add(BigInteger.ONE)
    while (low.compareTo(high) < 0) {
      val middle = low.add(high).shiftRight(1)
      if (condition.eval(InternalRow(chain.at(middle))) == true) low = middle.add(BigInteger.ONE) else high = middle
    }
    low
  }
}

private[predicate] object MonotoneFunction {

  def of(e: Expression, columnOf: Expression => Option[Column]): Option[MonotoneFunction] =
    MonotoneStep.of(e).flatMap { step =>
      columnOf(step.argument).fold(of(step.argument, columnOf))(identity).flatMap(_.andThen(e, step))
    }

  private def identity(column: Column): Option[MonotoneFunction] = DiscreteDomain.of(column.dataType).map { chain =>
    val itself = BoundReference(0, column.dataType, nullable = false)
    new MonotoneFunction(column, chain, itself, rising = true, chain.first, chain.last)
  }
}
