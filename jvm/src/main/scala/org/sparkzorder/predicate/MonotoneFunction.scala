package org.sparkzorder.predicate

import java.math.BigInteger

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GreaterThan, GreaterThanOrEqual}
import org.apache.spark.sql.catalyst.expressions.{LessThan, LessThanOrEqual, Literal}

/**
 * One or more [[MonotoneStep]]s over a column, each applied to the result of the one before: casts,
 * `year(c)`, `c + 1`, `year(c) + 1`.
 *
 * Proof. The column's type is a finite [[DiscreteDomain]]. Let f give a value for every x of the domain from a to b,
 * and let f be rising there: x <= y implies f(x) <= f(y). Then, with each of its values, the set `{x : f(x) < v}` has
 * every smaller value down to a. So there is a first value t outside of the set, and `f(x) < v` is the same as `x < t`
 * for every x from a to b. Likewise let u be the first value for which `f(x) <= v` does not hold. Then `f(x) <= v` is
 * `x < u`, and u is not below t. `f(x) = v` is `t <= x < u`, and `>`, `>=` and `<>` are negations. If t is a,
 * `f(x) < v` is false for all x; if there is no t, it is true for all. A null x gives null. Several x may have the same
 * f(x), as with long to double: then t and u are further apart. v need not be any f(x), as in `cast(int) = 1.5`: then t
 * = u.
 *
 * For a falling f the ends are swapped. Let u be the first value for which `f(x) <= v`, and t the first for which
 * `f(x) < v`. Then t is not below u, `f(x) < v` is `x >= t`, `f(x) <= v` is `x >= u`, and `f(x) = v` is `u <= x < t`.
 *
 * A step applied to such a function is such a function again. Two rising or two falling ones make a
 * rising one, else the result is falling. The x whose f(x) is in the step's own domain are
 * neighbours between a and b, since the ends of that domain are comparisons as above.
 *
 * Below a and above b anything may be true: `c + 1` wraps or throws, or the clocks of a time zone
 * were changed. Files with such values are read, so that Spark still reports the overflow.
 *
 * All ordinals are found by bisection with Spark's own functions and comparisons, so that rounding,
 * NaN and infinities are the same as in Spark.
 */
private[predicate] final class MonotoneFunction private (
    val column: Column,
    values: DiscreteDomain,
    body: Expression,
    rising: Boolean,
    from: BigInteger,
    to: BigInteger
) extends ColumnFunction {
  import ColumnFunction._

  protected lazy val domain: Option[StatsPredicate] = {
    val low = if (from == values.first) None else Some(Comparison(column, Operator.GreaterOrEqual, value(from)))
    val high = if (to == values.last) None else Some(Comparison(column, Operator.LessOrEqual, value(to)))
    (low ++ high).reduceOption[StatsPredicate](And(_, _))
  }

  protected def less(v: Literal): StatsPredicate =
    if (rising) below(notLess(v)) else Not(below(firstLess(v)))

  protected def lessOrEqual(v: Literal): StatsPredicate =
    if (rising) below(greater(v)) else Not(below(notGreater(v)))

  protected def equal(v: Literal): StatsPredicate =
    if (rising) between(notLess(v), greater(v)) else between(notGreater(v), firstLess(v))

  // The first ordinal where f(x) is not less than v, and so on; one more than the last ordinal if there is none.
  private def notLess(v: Literal): BigInteger = first(LessThan(body, v))
  private def greater(v: Literal): BigInteger = first(LessThanOrEqual(body, v))
  private def notGreater(v: Literal): BigInteger = first(GreaterThan(body, v))
  private def firstLess(v: Literal): BigInteger = first(GreaterThanOrEqual(body, v))

  /** The function `e`, which is `step` applied to this one. None where no part of it is known to be monotone. */
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
    else Some(new MonotoneFunction(column, values, upon, rising == step.rising, a, b))
  }

  private def below(ordinal: BigInteger): StatsPredicate =
    if (ordinal == from) falseUnlessNull(column)
    else if (ordinal.compareTo(to) > 0) trueUnlessNull(column)
    else Comparison(column, Operator.Less, value(ordinal))

  private def between(start: BigInteger, end: BigInteger): StatsPredicate =
    if (start == end) falseUnlessNull(column)
    else {
      val lo = value(start)
      val hi = value(end.subtract(BigInteger.ONE))
      // The two ordinals may differ and still have equal values: -0.0 and 0.0.
      if (lo == hi) Comparison(column, Operator.Equal, lo)
      else And(Comparison(column, Operator.GreaterOrEqual, lo), Comparison(column, Operator.LessOrEqual, hi))
    }

  private def value(ordinal: BigInteger): Value = Value.of(column.dataType, values.at(ordinal))

  /** The first ordinal where a condition is false; it is false from there on. `to` + 1 if it is always true. */
  private def first(condition: Expression): BigInteger = {
    var low = from
    var high = to.add(BigInteger.ONE)
    while (low.compareTo(high) < 0) {
      val middle = low.add(high).shiftRight(1)
      if (condition.eval(InternalRow(values.at(middle))) == true) low = middle.add(BigInteger.ONE) else high = middle
    }
    low
  }
}

private[predicate] object MonotoneFunction {

  def of(e: Expression, columnOf: Expression => Option[Column]): Option[MonotoneFunction] =
    MonotoneSteps.of(e).flatMap { step =>
      columnOf(step.argument).fold(of(step.argument, columnOf))(identity).flatMap(_.andThen(e, step))
    }

  private def identity(column: Column): Option[MonotoneFunction] = DiscreteDomain.of(column.dataType).map { values =>
    val itself = BoundReference(0, column.dataType, nullable = false)
    new MonotoneFunction(column, values, itself, rising = true, values.first, values.last)
  }
}
