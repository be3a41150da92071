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

  private def of(operator: Operator, v: Long) = Comparison(a, operator, LongValue(v))
  private def in(hasNull: Boolean, vs: Long*) = In.of(a, vs.map(LongValue(_)), hasNull)
  private def prefix(text: String) = StartsWith(s, new BytesValue(bytes(text)))

  private val range = ColumnStats(10L, 20L, 0L, 0L)
  private val point = ColumnStats(10L, 10L, 0L, 0L)
  private val someNull = range.copy(nullCount = 1L)
  private val allNull = ColumnStats(null, null, 5L, 0L)

  test("comparisons with bounds give the tightest outcomes") {
    Seq(
      (of(Equal, 9), range, False),
      (of(Equal, 10), range, True | False),
      (of(Equal, 10), point, True),
      (of(Equal, 21), range, False),
      (of(NotEqual, 10), point, False),
      (of(NotEqual, 9), range, True),
      (of(NotEqual, 15), range, True | False),
      (of(Less, 10), range, False),
      (of(Less, 11), range, True | False),
      (of(Less, 21), range, True),
      (of(LessOrEqual, 9), range, False),
      (of(LessOrEqual, 20), range, True),
      (of(LessOrEqual, 19), range, True | False),
      (of(Greater, 20), range, False),
      (of(Greater, 9), range, True),
      (of(GreaterOrEqual, 21), range, False),
      (of(GreaterOrEqual, 10), range, True),
      (of(NullSafeEqual, 9), someNull, False),
      (of(Equal, 9), someNull, False | Null),
      (Not(of(NullSafeEqual, 9)), allNull, True),
      (of(Equal, 9), allNull, Null),
      (Not(of(Equal, 9)), allNull, Null)
    ).foreach { case (p, stats, expected) => assert(mask(p, 5, a, stats) == expected, s"$p $stats") }
  }

  test("IN gives the tightest outcomes") {
    Seq(
      (in(false, 1, 30), range, False),
      (in(false, 1, 10), range, True | False),
      (in(false, 1, 10, 30), point, True),
      (in(true, 1, 30), range, Null),
      (in(true, 1, 15), range, True | Null),
      (Not(in(true, 1, 15)), range, False | Null),
      (Not(in(false, 10)), point, False),
      (in(false), someNull, False | Null),
      (in(true), range, Null)
    ).foreach { case (p, stats, expected) => assert(mask(p, 5, a, stats) == expected, s"$p $stats") }
  }

  test("null tests need counts only") {
    Seq(
      (range, False, True),
      (someNull, True | False, True | False),
      (allNull, True, False),
      (ColumnStats.unknown, 3, 3)
    ).foreach {
      case (stats, isNull, isNotNull) =>
        assert(mask(IsNull(a), 5, a, stats) == isNull)
        assert(mask(IsNotNull(a), 5, a, stats) == isNotNull)
    }
  }

  test("prefixes give the tightest outcomes") {
    val within = ColumnStats(bytes("abc"), bytes("abz"), 0L, 0L)
    val top = ColumnStats(bytes("\u00ff\u00ff"), bytes("\u00ff\u00ff\u0001"), 0L, 0L)
    Seq(
      (prefix("ab"), within, True),
      (prefix("abd"), within, True | False),
      (prefix("ac"), within, False),
      (prefix("aa"), within, False),
      (prefix(""), within, True),
      (prefix("abzz"), within, False),
      (prefix("\u00ff"), top, True),
      (prefix("\u00ff\u00ff\u00ff"), top, False),
      (Not(prefix("ab")), within, False)
    ).foreach { case (p, stats, expected) => assert(mask(p, 5, s, stats) == expected, s"$p") }
  }

  test("NaN is above everything and equal to itself, -0.0 is 0.0") {
    def p(operator: Operator, v: Double) = Comparison(d, operator, LongValue(double(v)))
    val clean = ColumnStats(double(-0.0), double(2.0), 0L, 0L)
    val some = clean.copy(nanCount = 1L)
    val all = ColumnStats(null, null, 0L, 5L)
    Seq(
      (p(Greater, 5), clean, False),
      (p(Greater, 5), some, True | False),
      (p(Greater, 5), some.copy(nanCount = -1L), True | False),
      (p(Less, 9), some, True | False),
      (p(Equal, Double.NaN), clean, False),
      (p(Equal, Double.NaN), all, True),
      (p(Equal, Double.NaN), ColumnStats(null, null, 0L, 0L), False),
      (p(LessOrEqual, 1), all, False),
      (p(Greater, 1), all, True),
      (p(Equal, 0.0), ColumnStats(double(-0.0), double(-0.0), 0L, 0L), True)
    ).foreach { case (q, stats, expected) => assert(mask(q, 5, d, stats) == expected, s"$q $stats") }
  }

  test("unknown counts and bounds keep everything possible") {
    assert(mask(of(Equal, 9), 5, a, ColumnStats.unknown) == Everything)
    assert(mask(of(Equal, 9), 5, a, range.copy(nullCount = -1L)) == (False | Null))
    assert(mask(of(Equal, 9), 5, s, allNull) == Everything, "a column without statistics")
    assert(mask(of(Equal, 9), 0, a, range) == 0, "a file without rows")
    assert(mask(Const.True, 0, a, range) == 0)
  }

  test("an unknown part spoils only its own branch") {
    val unknown = Unknown(Reason(ReasonCode.UnsupportedExpression, "a test"))
    assert(mask(And(of(Equal, 9), unknown), 5, a, range) == False)
    assert(mask(Or(of(Equal, 9), unknown), 5, a, range) == Everything)
    assert(mask(Not(Or(of(Less, 90), unknown)), 5, a, range) == False)
    assert(mask(Undefined(of(Equal, 12)), 5, a, range) == False)
  }
}
