package org.sparkzorder.predicate

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.TypeUtils

/**
 * A function that is null if and only if one of its arguments is. With all other arguments fixed it rises or falls in each
 * argument from one turning point to the next. [[TurningPoints]] knows these.
 *
 * Proof of its range. Fix all arguments but the first. Between two neighbouring turning points the function takes its
 * least and its greatest value at one of the two. So a value of the first argument can be exchanged for a turning point, or
 * an end of its bounds, without making the result less (or without making it greater). Likewise for the second argument, and
 * so on. So the least and the greatest value are among those at combinations of turning points and ends.
 *
 * Sums and products of integers are monotone as long as they do not leave their type. Then the checked function fails at
 * the least or the greatest value too, and nothing is concluded. If it does not fail there, it does not fail
 * in between, and the function gives the same values, whatever the ANSI mode is.
 *
 * @param function over references to the arguments
 */
private[predicate] final class PiecewiseMonotone(function: Expression, checked: Option[Expression])
    extends (Seq[Extent] => Extent) {
  import PiecewiseMonotone._

  private val order: Ordering[Any] = TypeUtils.getInterpretedOrdering(function.dataType)
  private val turns = new TurningPoints(function)

  override def apply(arguments: Seq[Extent]): Extent = {
    val known = arguments.collect { case of: Extent.Of => of }
    if (known.size < arguments.size) Extent.Anything
    else if (known.exists(_.bounds.isEmpty)) Extent.OnlyNull
    else
      try bounds(known.flatMap(_.bounds)).fold(Extent.Anything: Extent) { case (least, most) =>
          Extent.of(least, most, known.exists(_.mayBeNull))
        }
      // What Spark throws for a value depends on its version.
      catch { case NonFatal(_) => Extent.Anything }
  }

  /** None if they are not known: a value is null or NaN, or the checked function gives another one. */
  private def bounds(arguments: Seq[(Any, Any)]): Option[(Any, Any)] = {
    val points = arguments.zipWithIndex.map { case ((lo, hi), i) => turns.of(i, lo, hi) }
    if (points.contains(None) || points.flatten.map(_.size).product > MostPoints) None
    else {
      val rows = points.flatten.foldLeft(Seq(Seq.empty[Any]))((rows, next) => rows.flatMap(r => next.map(r :+ _)))
      val values = rows.iterator.map(row => value(InternalRow.fromSeq(row))).takeWhile(_.isDefined).flatten.toVector
      if (values.size < rows.size) None else turns.widened(values.min(order), values.max(order))
    }
  }

  private def value(row: InternalRow): Option[Any] =
    Option(function.eval(row)).filter(v => !isNaN(v) && checked.forall(_.eval(row) == v))
}

private[predicate] object PiecewiseMonotone {

  private val MostPoints = 64

  def isNaN(value: Any): Boolean = value match {
    case d: Double => d.isNaN
    case f: Float  => f.isNaN
    case _         => false
  }
}
