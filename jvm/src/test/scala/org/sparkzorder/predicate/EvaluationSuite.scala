package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.stats._

/** The outcomes of each form, case by case, and bitmaps against the outcomes that they stand for. */
class EvaluationSuite extends AnyFunSuite with Choices {
  import Operator._
  import Outcomes.{Any => Everything, _}

  override protected val random = new Random(17)
  private val a = Column(Seq("a"), LongType)
  private val s = Column(Seq("s"), StringType)
  private val d = Column(Seq("d"), DoubleType)
  private def bytes(text: String) = text.getBytes("ISO-8859-1")
  private def double(v: Double) = OrderedValue.ofDouble(v)
  private def key(of: Column) = ColumnKey(of.path, of.dataType)

  private def mask(predicate: StatsPredicate, rows: Long, column: Column, stats: ColumnStats): Int =
    Evaluation.outcomes(predicate, new ModelTable(Seq(FileStats(rows, Map(key(column) -> stats))))).head.toInt

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
    val cases = Seq((range, False, True), (someNull, True | False, True | False), (allNull, True, False)) ++
      Seq((ColumnStats.unknown, 3, 3))
    for ((stats, isNull, isNotNull) <- cases) {
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

  private def long(): Long =
    if (random.nextInt(6) == 0) one(Seq(Long.MinValue, Long.MinValue + 1, Long.MaxValue - 1, Long.MaxValue))
    else random.nextInt(20).toLong

  private def number(): Long =
    OrderedValue.ofDouble(one(Seq(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, 0.0, 1.5, -3.0)))

  private def text(): Array[Byte] = one(Seq("", "a", "ab", "b", "c")).getBytes

  private def stats(complete: Boolean): FileStats = {
    def counts(): Long = if (complete) 0L else one(Seq(0L, 0L, 1L, 5L, -1L))
    def of[A](value: => A)(smaller: (A, A) => Boolean): ColumnStats = {
      val (x, y) = (value, value)
      val (min, max) = if (smaller(x, y)) (x, y) else (y, x)
      if (complete || random.nextInt(5) > 0) ColumnStats(min, max, counts(), counts())
      else ColumnStats(null, null, counts(), counts())
    }
    val rows = if (complete) 5L else one(Seq(5L, 5L, 0L))
    val columns = Map(key(a) -> of(long())(_ < _), key(d) -> of(number())(_ < _)) +
      (key(s) -> of(text())(OrderedValue.compare(_, _) < 0))
    FileStats(rows, columns)
  }

  private def leaf(): StatsPredicate = {
    def ofColumn(column: Column, value: () => Value): StatsPredicate = random.nextInt(8) match {
      case 0 => In.of(column, Seq.fill(1 + random.nextInt(5))(value()), random.nextBoolean())
      case 1 => IsNull(column)
      case _ => Comparison(column, one(Operator.all), value())
    }
    random.nextInt(6) match {
      case 0 => ofColumn(s, () => Value.of(StringType, UTF8String.fromBytes(text())))
      case 1 => Unknown(Reason(ReasonCode.Subquery, "unknown"))
      case 2 => Const.True
      case 3 => ofColumn(d, () => LongValue(number()))
      case _ => ofColumn(a, () => LongValue(long()))
    }
  }

  private def predicate(depth: Int): StatsPredicate = if (depth == 0) leaf()
  else
    random.nextInt(4) match {
      case 0 => And(predicate(depth - 1), predicate(depth - 1))
      case 1 => Or(predicate(depth - 1), predicate(depth - 1))
      case 2 => Not(predicate(depth - 1))
      case _ => leaf()
    }

  for ((bounds, tags) <- Seq("complete bounds" -> Seq(InRest), "nulls, NaN and missing bounds" -> Nil))
    test(s"the files that may have true, with $bounds", tags: _*) {
      val complete = tags.nonEmpty
      for (_ <- 1 to 300) {
        val files = Seq.fill(1 + random.nextInt(150))(stats(complete))
        val table = new ModelTable(files)
        assert(table.allHaveRows == files.forall(_.rows > 0))
        if (complete) Seq(a, d).foreach { c =>
          assert(table.column(c.path, c.dataType).exists(_.asInstanceOf[LongStatsColumn].isComplete))
        }
        for (_ <- 1 to 20) {
          val p = predicate(random.nextInt(4))
          val masks = Evaluation.outcomes(p, table)
          val keep = Evaluation.keep(p, table)
          files.indices.foreach { i =>
            assert(keep.get(i) == ((masks(i) & Outcomes.True) != 0), s"$p for file $i, ${files(i)}")
          }
          assert(keep.length <= files.length)
        }
      }
    }
}
