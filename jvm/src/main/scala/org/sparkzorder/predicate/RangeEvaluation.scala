package org.sparkzorder.predicate

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types.{DataType, FloatType}

import org.sparkzorder.stats.{BytesStatsColumn, LongStatsColumn, OrderedValue, StatsColumn, StatsTable}

/** The extents of expressions in the files of a table. */
private[predicate] final class RangeEvaluation(table: StatsTable) {

  /** By the ordinal of a file that may have rows. */
  def of(range: RangeOf): Int => Extent = range match {
    case ColumnRange(column) =>
      table.column(column.path, column.dataType).fold((_: Int) => Extent.Anything: Extent)(ofColumn(column.dataType, _))
    case LiteralRange(literal) =>
      val value = if (literal.value == null) Extent.OnlyNull else Extent.of(literal.value, literal.value, false)
      _ => value
    case FunctionRange(function, checked, arguments) =>
      val f = new PiecewiseMonotone(function, checked)
      val inner = arguments.map(of)
      i => f(inner.map(_(i)))
    case ChoiceRange(values, dt)           => joined(values, dt)(Extent.hull)
    case FirstRange(values, dt)            => joined(values, dt)(first)
    case ExtremeRange(values, isLeast, dt) => joined(values, dt)(extreme(_, isLeast, _))
  }

  private def joined(values: Seq[RangeOf], dt: DataType)(f: (Seq[Extent], Ordering[Any]) => Extent): Int => Extent = {
    val inner = values.map(of)
    val order: Ordering[Any] = TypeUtils.getInterpretedOrdering(dt)
    i => f(inner.map(_(i)), order)
  }

  private def ofColumn(dt: DataType, stats: StatsColumn): Int => Extent = {
    val bounds: Int => Option[(Any, Any)] = stats match {
      case l: LongStatsColumn  => i => for (lo <- decoded(dt, l.min(i)); hi <- decoded(dt, l.max(i))) yield (lo, hi)
      case b: BytesStatsColumn => i => for (lo <- decoded(dt, b.min(i)); hi <- decoded(dt, b.max(i))) yield (lo, hi)
    }
    val hasNaN = OrderedValue.hasNaN(dt)
    val nan: Any = if (dt == FloatType) Float.NaN else Double.NaN
    i => {
      val rows = table.rows(i)
      val nulls = if (rows < 0) -1L else stats.nullCounts(i)
      val nans = if (!hasNaN) 0L else if (rows < 0 || stats.nanCounts == null) -1L else stats.nanCounts(i)
      if (nulls == rows && rows >= 0) Extent.OnlyNull
      else if (math.max(nulls, 0L) + math.max(nans, 0L) == rows) Extent.of(nan, nan, nulls != 0)
      else if (!stats.bounded.get(i)) Extent.Anything
      else {
        bounds(i).fold(Extent.Anything: Extent) { case (lo, hi) =>
          Extent.of(lo, if (nans == 0) hi else nan, nulls != 0)
        }
      }
    }
  }

  /** None for a bound that is no value of the type, as that of a decimal may be when it is rounded. */
  private def decoded(dt: DataType, encoded: Any): Option[Any] =
    try Some(OrderedValue.decode(dt, encoded)).filter(v => isSame(OrderedValue.encode(dt, v), encoded))
    catch { case _: IllegalArgumentException => None }

  private def isSame(a: Any, b: Any): Boolean = (a, b) match {
    case (x: Array[Byte], y: Array[Byte]) => java.util.Arrays.equals(x, y)
    case _                                => a == b
  }

  private def first(extents: Seq[Extent], order: Ordering[Any]): Extent = {
    def isNullable(e: Extent) = e match {
      case Extent.Of(_, mayBeNull) => mayBeNull
      case Extent.Anything         => true
    }
    val (before, after) = extents.span(isNullable)
    Extent.hull(before ++ after.take(1), order) match {
      case of: Extent.Of => of.copy(mayBeNull = after.isEmpty)
      case other         => other
    }
  }

  // The least of several values is one of them. If none of them is null, it is not above any of them.
  private def extreme(extents: Seq[Extent], isLeast: Boolean, order: Ordering[Any]): Extent =
    Extent.hull(extents, order) match {
      case Extent.Of(Some((least, most)), mayBeNull) =>
        val all = extents.collect { case Extent.Of(Some(bounds), false) => bounds }
        val isNull = extents.forall { case of: Extent.Of => of.mayBeNull; case _ => true }
        if (mayBeNull) Extent.of(least, most, isNull)
        else if (isLeast) Extent.of(least, all.map(_._2).min(order), mayBeNull = false)
        else Extent.of(all.map(_._1).max(order), most, mayBeNull = false)
      case other => other
    }
}

/**
 * A function that is null if and only if one of its arguments is. With all other arguments fixed it rises or falls in
 * each argument from one turning point to the next. [[TurningPoints]] knows these.
 *
 * Proof of its range. Fix all arguments but the first. Between two neighbouring turning points the function takes its
 * least and its greatest value at one of the two. So a value of the first argument can be exchanged for a turning
 * point, or an end of its bounds, without making the result less (or without making it greater). Likewise for the
 * second argument, and so on. So the least and the greatest value are among those at combinations of turning points and
 * ends.
 *
 * Sums and products of integers are monotone as long as they do not leave their type. Then the checked function fails
 * at the least or the greatest value too, and nothing is concluded. If it does not fail there, it does not fail in
 * between, and the function gives the same values, whatever the ANSI mode is.
 *
 * @param function over references to the arguments
 */
private[predicate] final class PiecewiseMonotone(function: Expression, checked: Option[Expression])
    extends (Seq[Extent] => Extent) {

  private final val MostPoints = 64

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
    Option(function.eval(row)).filter(v => !OrderedValue.isNaN(v) && checked.forall(_.eval(row) == v))
}
