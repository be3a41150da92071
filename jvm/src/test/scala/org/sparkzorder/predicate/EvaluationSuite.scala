package org.sparkzorder.predicate

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.stats._

/** The outcomes of each form, case by case. */
class EvaluationSuite extends AnyFunSuite {
  import Operator._
  import Outcomes.{Any => Everything, _}

  private val a = Column(Seq("a"), LongType)
  private val s = Column(Seq("s"), StringType)
  private val d = Column(Seq("d"), DoubleType)

  private def bytes(text: String) = text.getBytes("ISO-8859-1")
  private def double(v: Double) = OrderedValue.ofDouble(v)

  private def mask(predicate: StatsPredicate, rows: Long, column: Column, stats: ColumnStats): Int =
    Evaluation.outcomes(
      predicate,
      new ModelTable(Seq(FileStats(rows, Map(ColumnKey(column.path, column.dataType) -> stats))))
    ).head.toInt

  private def check(column: Column, stats: ColumnStats, expected: Int)(predicates: StatsPredicate*): Unit =
    predicates.foreach(p => assert(mask(p, 5, column, stats) == expected, s"$p $stats"))

  private def of(operator: Operator, v: Long) = Comparison(a, operator, LongValue(v))
  private def in(hasNull: Boolean, vs: Long*) = In.of(a, vs.map(LongValue(_)), hasNull)
  private def prefix(text: String) = StartsWith(s, new BytesValue(bytes(text)))

  private val range = ColumnStats(10L, 20L, 0L, 0L)
  private val point = ColumnStats(10L, 10L, 0L, 0L)
  private val someNull = range.copy(nullCount = 1L)
  private val allNull = ColumnStats(null, null, 5L, 0L)

  test("comparisons with bounds give the tightest outcomes") {
    check(a, range, False)(of(Equal, 9), of(Equal, 21), of(Less, 10), of(LessOrEqual, 9))
    check(a, range, False)(of(Greater, 20), of(GreaterOrEqual, 21))
    check(a, range, True)(of(NotEqual, 9), of(Less, 21), of(LessOrEqual, 20), of(Greater, 9), of(GreaterOrEqual, 10))
    check(a, range, True | False)(of(Equal, 10), of(NotEqual, 15), of(Less, 11), of(LessOrEqual, 19))
    check(a, point, True)(of(Equal, 10))
    check(a, point, False)(of(NotEqual, 10))
    check(a, someNull, False)(of(NullSafeEqual, 9))
    check(a, someNull, False | Null)(of(Equal, 9))
    check(a, allNull, True)(Not(of(NullSafeEqual, 9)))
    check(a, allNull, Null)(of(Equal, 9), Not(of(Equal, 9)))
  }

  test("IN gives the tightest outcomes") {
    check(a, range, False)(in(false, 1, 30))
    check(a, range, True | False)(in(false, 1, 10))
    check(a, range, Null)(in(true, 1, 30), in(true))
    check(a, range, True | Null)(in(true, 1, 15))
    check(a, range, False | Null)(Not(in(true, 1, 15)))
    check(a, point, True)(in(false, 1, 10, 30))
    check(a, point, False)(Not(in(false, 10)))
    check(a, someNull, False | Null)(in(false))
  }

  test("null tests need counts only") {
    for (
      (stats, isNull, isNotNull) <- Seq(
        (range, False, True),
        (someNull, True | False, True | False),
        (allNull, True, False),
        (ColumnStats.unknown, 3, 3)
      )
    ) {
      check(a, stats, isNull)(IsNull(a))
      check(a, stats, isNotNull)(IsNotNull(a))
    }
  }

  test("prefixes give the tightest outcomes") {
    val within = ColumnStats(bytes("abc"), bytes("abz"), 0L, 0L)
    val top = ColumnStats(bytes("\u00ff\u00ff"), bytes("\u00ff\u00ff\u0001"), 0L, 0L)
    check(s, within, True)(prefix("ab"), prefix(""))
    check(s, within, True | False)(prefix("abd"))
    check(s, within, False)(prefix("ac"), prefix("aa"), prefix("abzz"), Not(prefix("ab")))
    check(s, top, True)(prefix("\u00ff"))
    check(s, top, False)(prefix("\u00ff\u00ff\u00ff"))
  }

  test("NaN is above everything and equal to itself, -0.0 is 0.0") {
    def p(operator: Operator, v: Double) = Comparison(d, operator, LongValue(double(v)))
    val clean = ColumnStats(double(-0.0), double(2.0), 0L, 0L)
    val some = clean.copy(nanCount = 1L)
    check(d, clean, False)(p(Greater, 5), p(Equal, Double.NaN))
    check(d, some, True | False)(p(Greater, 5), p(Less, 9))
    check(d, some.copy(nanCount = -1L), True | False)(p(Greater, 5))
    check(d, ColumnStats(null, null, 0L, 5L), True)(p(Equal, Double.NaN), p(Greater, 1))
    check(d, ColumnStats(null, null, 0L, 5L), False)(p(LessOrEqual, 1))
    check(d, ColumnStats(null, null, 0L, 0L), False)(p(Equal, Double.NaN))
    check(d, ColumnStats(double(-0.0), double(-0.0), 0L, 0L), True)(p(Equal, 0.0))
  }

  test("unknown counts and bounds keep everything possible") {
    check(a, ColumnStats.unknown, Everything)(of(Equal, 9))
    check(a, range.copy(nullCount = -1L), False | Null)(of(Equal, 9))
    assert(mask(of(Equal, 9), 5, s, allNull) == Everything, "a column without statistics")
    assert(mask(of(Equal, 9), 0, a, range) == 0, "a file without rows")
    assert(mask(Const.True, 0, a, range) == 0)
  }

  test("an unknown part spoils only its own branch") {
    val unknown = Unknown(Reason(ReasonCode.UnsupportedExpression, "a test"))
    check(a, range, False)(And(of(Equal, 9), unknown), Not(Or(of(Less, 90), unknown)), Undefined(of(Equal, 12)))
    check(a, range, Everything)(Or(of(Equal, 9), unknown))
  }
}
