package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.util.TypeUtils

import org.sparkzorder.predicate.Outcomes.{False, Null, True}
import org.sparkzorder.stats.{BytesStatsColumn, LongStatsColumn, OrderedValue, StatsColumn, StatsTable}

/**
 * [[Evaluation.outcomes]]: each form of the predicate is evaluated for all files before the next
 * form is, so that the inner loops run over arrays.
 *
 * @param withRanges whether [[RangeComparison]] and [[RangeIn]] are looked at; else they may have any outcome
 */
private[predicate] final class OutcomeEvaluation(table: StatsTable, withRanges: Boolean) {
  import OutcomeEvaluation._

  private val rows = table.rows

  def apply(predicate: StatsPredicate): Array[Byte] = outcomes(predicate, new Array[Byte](rows.length))

  /**
   * @param settled files with [[Outcomes.False]] in this array need no answer but a set that is not
   *   empty, as the left side of an AND is false for them. So a good left side makes the right one cheap.
   */
  private def outcomes(predicate: StatsPredicate, settled: Array[Byte]): Array[Byte] =
    predicate match {
      case And(left, right) =>
        val first = outcomes(left, settled)
        combined(first, outcomes(right, first), Outcomes.conjunctions)
      case Or(left, right)  => combined(outcomes(left, settled), outcomes(right, settled), Outcomes.disjunctions)
      case Not(child)       => mapped(outcomes(child, settled), Outcomes.not)
      case Undefined(child) => mapped(outcomes(child, settled), Outcomes.undefined)
      case IsTrue(child)    => mapped(outcomes(child, settled), Outcomes.isTrue)
      case Choice(condition, first, second) =>
        val chosen = mapped(outcomes(condition, settled), Outcomes.isTrue)
        val (a, b) = (outcomes(first, settled), outcomes(second, settled))
        chosen.indices.foreach { i =>
          val ofFirst = if ((chosen(i) & True) != 0) a(i).toInt else 0
          val ofSecond = if ((chosen(i) & False) != 0) b(i).toInt else 0
          chosen(i) = (ofFirst | ofSecond).toByte
        }
        chosen
      case Within(domain, child) => combined(outcomes(domain, settled), outcomes(child, settled), Outcomes.within)
      case Const(value)          => constant(value.fold(Null)(if (_) True else False))
      case Unknown(_)            => constant(Outcomes.Any)
      case IsNull(column)        => of(column)(nulls(_, True, False))
      case IsNotNull(column)     => of(column)(nulls(_, False, True))
      case Comparison(column, operator, value)            => of(column)(comparison(column, operator, value, _, settled))
      case _: RangeComparison | _: RangeIn if !withRanges => constant(Outcomes.Any)
      case RangeComparison(left, operator, right)         =>
        val (a, b) = (new RangeEvaluation(table).of(left), new RangeEvaluation(table).of(right))
        val order: Ordering[Any] = TypeUtils.getInterpretedOrdering(left.dataType)
        each(settled)(i => Extent.compared(operator, a(i), b(i), order))
      case RangeIn(range, values) =>
        val extent = new RangeEvaluation(table).of(range)
        val order: Ordering[Any] = TypeUtils.getInterpretedOrdering(range.dataType)
        each(settled)(i => Extent.in(extent(i), values, order))
      case In(column, values, hasNull) =>
        val test = IntervalTest.in(values, hasNull)
        of(column) { stats =>
          test.fold(nulls(stats, Null, if (hasNull) Null else False))(valued(column, _, Null, stats, settled))
        }
      case StartsWith(column, prefix) =>
        of(column)(valued(column, IntervalTest.startsWith(prefix.bytes), Null, _, settled))
    }

  private def comparison(
      column: Column,
      operator: Operator,
      value: Value,
      stats: StatsColumn,
      settled: Array[Byte]
  ): Array[Byte] = {
    import Operator._
    def plain(rule: Operator, onNull: Int): Array[Byte] =
      valued(column, IntervalTest.comparison(rule, value), onNull, stats, settled)
    operator match {
      case Equal | Less | LessOrEqual => plain(operator, Null)
      case NullSafeEqual              => plain(Equal, False)
      case NotEqual                   => mapped(plain(Equal, Null), Outcomes.not)
      case Greater                    => mapped(plain(LessOrEqual, Null), Outcomes.not)
      case GreaterOrEqual             => mapped(plain(Less, Null), Outcomes.not)
    }
  }

  private def each(settled: Array[Byte])(of: Int => Int): Array[Byte] =
    Array.tabulate(rows.length) { i =>
      if (settled(i) == False) False.toByte
      else if (rows(i) == 0L) Outcomes.None.toByte
      else of(i).toByte
    }

  private def of(column: Column)(evaluate: StatsColumn => Array[Byte]): Array[Byte] =
    table.column(column.path, column.dataType).fold(constant(Outcomes.Any))(evaluate)

  /** The outcomes for null, NaN and the interval together, as [[StatsPredicate]] describes them. */
  private def valued(
      column: Column,
      test: IntervalTest,
      onNull: Int,
      stats: StatsColumn,
      settled: Array[Byte]
  ): Array[Byte] = (test, stats) match {
    case (longs: LongTest, s: LongStatsColumn) =>
      val hasNaN = OrderedValue.hasNaN(column.dataType)
      val onNaN = if (hasNaN) longs.within(NaN, NaN) else 0
      // Even without bounds, every value but NaN is between the infinities.
      val anywhere = if (hasNaN) longs.within(Lowest, Highest) else longs.anywhere
      union(s, settled, hasNaN, onNull, onNaN, anywhere)(i => longs.within(s.min(i), s.max(i)))
    case (bytes: BytesTest, s: BytesStatsColumn) =>
      union(s, settled, hasNaN = false, onNull, 0, bytes.anywhere)(bytes.within(s.min, s.max, _))
    case _ =>
      throw new IllegalArgumentException(
        s"statistics of `${column.path.mkString(".")}` are not in the encoding of ${column.dataType.catalogString}"
      )
  }

  private def union(
      stats: StatsColumn,
      settled: Array[Byte],
      hasNaN: Boolean,
      onNull: Int,
      onNaN: Int,
      anywhere: Int
  )(within: Int => Int): Array[Byte] = {
    val out = new Array[Byte](rows.length)
    val nullCounts = stats.nullCounts
    val nanCounts = stats.nanCounts
    val bounded = stats.bounded
    var i = 0
    while (i < out.length) {
      val n = rows(i)
      if (settled(i) == False) out(i) = False
      else if (n != 0L) {
        val nulls = if (n < 0L) -1L else nullCounts(i)
        val nans = if (!hasNaN) 0L else if (nanCounts == null || n < 0L) -1L else nanCounts(i)
        var mask = if (nulls != 0L) onNull else 0
        if (nulls < 0L || nulls != n) {
          if (nans != 0L) mask |= onNaN
          if (math.max(nulls, 0L) + math.max(nans, 0L) != n) mask |= (if (bounded.get(i)) within(i) else anywhere)
        }
        out(i) = mask.toByte
      }
      i += 1
    }
    out
  }

  private def nulls(stats: StatsColumn, onNull: Int, onValue: Int): Array[Byte] = {
    val nullCounts = stats.nullCounts
    val out = new Array[Byte](rows.length)
    var i = 0
    while (i < out.length) {
      if (rows(i) != 0L) {
        val nulls = nullCounts(i)
        out(i) = ((if (nulls != 0L) onNull else 0) | (if (nulls < 0L || nulls != rows(i)) onValue else 0)).toByte
      }
      i += 1
    }
    out
  }

  private def constant(mask: Int): Array[Byte] = {
    val out = new Array[Byte](rows.length)
    var i = 0
    while (i < out.length) {
      if (rows(i) != 0L) out(i) = mask.toByte
      i += 1
    }
    out
  }

}

private object OutcomeEvaluation {

  // Nothing else has the array of the left side, so the results can overwrite it.
  private def combined(left: Array[Byte], right: Array[Byte], kleene: Array[Byte]): Array[Byte] = {
    var i = 0
    while (i < left.length) {
      left(i) = kleene(left(i) << 3 | right(i))
      i += 1
    }
    left
  }

  private def mapped(masks: Array[Byte], f: Int => Int): Array[Byte] = {
    val table = Array.tabulate(8)(f(_).toByte)
    var i = 0
    while (i < masks.length) {
      masks(i) = table(masks(i).toInt)
      i += 1
    }
    masks
  }

  private val NaN = OrderedValue.ofDouble(Double.NaN)
  private val Lowest = OrderedValue.ofDouble(Double.NegativeInfinity)
  private val Highest = OrderedValue.ofDouble(Double.PositiveInfinity)
}
