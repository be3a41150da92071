package org.sparkzorder.predicate

import org.sparkzorder.predicate.Outcomes.{False, Null, True}

/** What is known of the values of an expression in one file. Values are Catalyst's. */
private[predicate] sealed trait Extent

private[predicate] object Extent {

  case object Anything extends Extent

  /** @param bounds the least and the greatest value, where NaN is above all; None if there is no value */
  final case class Of(bounds: Option[(Any, Any)], mayBeNull: Boolean) extends Extent

  val OnlyNull: Extent = Of(None, mayBeNull = true)

  def of(least: Any, most: Any, mayBeNull: Boolean): Extent = Of(Some((least, most)), mayBeNull)

  /** For rows that have a value of one of these. */
  def hull(extents: Seq[Extent], order: Ordering[Any]): Extent = {
    val known = extents.collect { case of: Of => of }
    if (known.size < extents.size) Anything
    else {
      val bounds = known.flatMap(_.bounds)
      val both = if (bounds.isEmpty) None else Some((bounds.map(_._1).min(order), bounds.map(_._2).max(order)))
      Of(both, known.exists(_.mayBeNull))
    }
  }

  /**
   * The outcomes of `a operator b`. Any value of one may be beside any of the other, so for the bounds [a, b] and [c,
   * d]:
   *  - `=` true needs a <= d and c <= b; false is impossible only when a = b = c = d.
   *  - `<` true needs a < d; false needs b >= c.
   *  - `<=` true needs a <= d; false needs b > c.
   * The others are negations of these. A null on one side gives null, or false for `<=>`; on both sides `<=>` is true.
   */
  def compared(operator: Operator, a: Extent, b: Extent, order: Ordering[Any]): Int = (operator, a, b) match {
    case (Operator.NotEqual, _, _)       => Outcomes.not(compared(Operator.Equal, a, b, order))
    case (Operator.Greater, _, _)        => Outcomes.not(compared(Operator.LessOrEqual, a, b, order))
    case (Operator.GreaterOrEqual, _, _) => Outcomes.not(compared(Operator.Less, a, b, order))
    case (_, x: Of, y: Of)               =>
      val ofValues = (for (v <- x.bounds; w <- y.bounds) yield within(operator, v, w, order)).getOrElse(0)
      val ofNulls =
        if (operator != Operator.NullSafeEqual) { if (x.mayBeNull || y.mayBeNull) Null else 0 }
        else {
          val one = (x.mayBeNull && y.bounds.isDefined) || (y.mayBeNull && x.bounds.isDefined)
          (if (one) False else 0) | (if (x.mayBeNull && y.mayBeNull) True else 0)
        }
      ofValues | ofNulls
    case _ => if (operator == Operator.NullSafeEqual) True | False else Outcomes.Any
  }

  /** The outcomes of `a IN (values)`, for ascending values. */
  def in(a: Extent, values: Seq[Any], order: Ordering[Any]): Int = a match {
    case Anything              => Outcomes.Any
    case Of(bounds, mayBeNull) =>
      val ofValues = bounds.fold(0) { case (lo, hi) =>
        val inside = values.exists(v => order.lteq(lo, v) && order.lteq(v, hi))
        (if (inside) True else 0) | (if (inside && order.equiv(lo, hi)) 0 else False)
      }
      ofValues | (if (mayBeNull) Null else 0)
  }

  private def within(operator: Operator, x: (Any, Any), y: (Any, Any), order: Ordering[Any]): Int = {
    val ((a, b), (c, d)) = (x, y)
    val (mayBeTrue, mayBeFalse) = operator match {
      case Operator.Less        => (order.lt(a, d), order.gteq(b, c))
      case Operator.LessOrEqual => (order.lteq(a, d), order.gt(b, c))
      case _                    => (order.lteq(a, d) && order.lteq(c, b), !(order.gteq(a, d) && order.gteq(c, b)))
    }
    (if (mayBeTrue) True else 0) | (if (mayBeFalse) False else 0)
  }
}
