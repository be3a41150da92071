package org.sparkzorder.predicate

import org.apache.spark.sql.catalyst.expressions.{InSet, LessThan, Literal, Rand}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** The predicates of SQL conditions, after Spark's own optimizer. */
class OptimizerSuite extends AnyFunSuite with OptimizedConditions {

  private val schema = StructType.fromDDL(
    "i INT, l BIGINT, d DOUBLE, f FLOAT, s STRING, b BOOLEAN, dec DECIMAL(7,2), day DATE, ts TIMESTAMP, bin BINARY, " +
      "arr ARRAY<INT>, st STRUCT<n: INT, `x.y`: STRING>, lower STRING COLLATE UTF8_LCASE"
  )

  private def column(name: String*): Column = {
    val top = schema(name.head)
    Column(name, if (name.size == 1) top.dataType else top.dataType.asInstanceOf[StructType](name(1)).dataType)
  }

  private def compare(c: Column, operator: Operator, value: Any) = Comparison(c, operator, Value.of(c.dataType, value))
  private def text(s: String) = UTF8String.fromString(s)
  private def prefix(s: String) = new BytesValue(s.getBytes("UTF-8"))

  /** The conjuncts without the null tests that the optimizer adds. */
  private def translated(condition: String): Seq[StatsPredicate] =
    conjuncts(schema, condition).getOrElse(fail(s"$condition is never true"))
      .map(CatalystTranslator.translate(_, byName)).filterNot(_.isInstanceOf[IsNotNull])

  import Operator._

  private val i = column("i")
  private val s = column("s")
  private val n = column("st", "n")
  private val day = column("day")
  private val ts = column("ts")
  private def between(c: Column, from: Any, to: Any) =
    And(compare(c, GreaterOrEqual, from), compare(c, LessOrEqual, to))
  private val known = between(ts, ZoneClock.Earliest, ZoneClock.Latest)
  private val equalFields =
    And(compare(n, NullSafeEqual, 3), Comparison(column("st", "x.y"), NullSafeEqual, prefix("a")))
  private val ofStructs =
    Unknown(Reason(ReasonCode.TypeWithoutStatistics, "fields of a struct say where it may be equal"))

  Seq[(String, Seq[StatsPredicate])](
    "i = 3" -> Seq(compare(i, Equal, 3)),
    "3 < i" -> Seq(compare(i, Greater, 3)),
    "i <=> 3" -> Seq(compare(i, NullSafeEqual, 3)),
    "i <> 3" -> Seq(Not(compare(i, Equal, 3))),
    "i BETWEEN 2 AND 5" -> Seq(compare(i, GreaterOrEqual, 2), compare(i, LessOrEqual, 5)),
    "NOT (i BETWEEN 2 AND 5)" -> Seq(Or(compare(i, Less, 2), compare(i, Greater, 5))),
    "i IN (3, 1, 2)" -> Seq(In.of(i, Seq(1, 2, 3).map(v => LongValue(v.toLong)), hasNull = false)),
    s"i IN (${(1 to 20).mkString(",")})" -> Seq(In.of(i, (1 to 20).map(v => LongValue(v.toLong)), hasNull = false)),
    "i NOT IN (1, 2)" -> Seq(Not(In.of(i, Seq(LongValue(1), LongValue(2)), hasNull = false))),
    "i IS NULL" -> Seq(IsNull(i)),
    "arr IS NULL" -> Seq(IsNull(column("arr"))),
    "st.n = 7" -> Seq(compare(n, Equal, 7)),
    "st.n IS NULL" -> Seq(IsNull(n)),
    "st.`x.y` = 'q'" -> Seq(compare(column("st", "x.y"), Equal, text("q"))),
    "s LIKE 'ab%'" -> Seq(StartsWith(s, prefix("ab"))),
    "NOT s LIKE 'ab%'" -> Seq(Not(StartsWith(s, prefix("ab")))),
    "startswith(s, 'ab')" -> Seq(StartsWith(s, prefix("ab"))),
    "s LIKE 'ab'" -> Seq(compare(s, Equal, text("ab"))),
    "s LIKE 'a|%b%' ESCAPE '|'" -> Seq(StartsWith(s, prefix("a%b"))),
    "b" -> Seq(compare(column("b"), Equal, true)),
    "NOT b" -> Seq(Not(compare(column("b"), Equal, true))),
    "d > 1.5" -> Seq(compare(column("d"), Greater, 1.5)),
    "isnan(d)" -> Seq(compare(column("d"), NullSafeEqual, Double.NaN)),
    "f > 1.5D" -> Seq(compare(column("f"), Greater, 1.5f)),
    "day < DATE'1970-01-03'" -> Seq(compare(column("day"), Less, 2)),
    "ts >= TIMESTAMP'1970-01-01 00:00:01'" -> Seq(compare(column("ts"), GreaterOrEqual, 1000000L)),
    "cast(ts AS date) = DATE'1970-01-02'" ->
      Seq(compare(column("ts"), GreaterOrEqual, 86400000000L), compare(column("ts"), Less, 172800000000L)),
    "bin = X'0102'" -> Seq(compare(column("bin"), Equal, Array[Byte](1, 2))),
    "dec = 1.50" -> Seq(compare(column("dec"), Equal, Decimal(150, 7, 2))),
    "i > 3000000000" -> Seq(And(IsNull(i), Const.Null)),
    "cast(l AS double) < 10.0D" -> Seq(compare(column("l"), Less, 10L)),
    "i + 1 = 3" -> Seq(Within(compare(i, LessOrEqual, Int.MaxValue - 1), compare(i, Equal, 2))),
    "-i < 3" -> Seq(Within(compare(i, GreaterOrEqual, Int.MinValue + 1), Not(compare(i, Less, -2)))),
    "d + 1 > 3" -> Seq(Not(compare(column("d"), Less, Math.nextUp(2.0)))),
    "dec - 1 = 0.5" -> Seq(compare(column("dec"), Equal, Decimal(150, 7, 2))),
    "left(s, 2) = 'ab'" -> Seq(StartsWith(s, prefix("ab"))),
    "substring(s, 1, 3) IN ('ab', 'abc')" ->
      Seq(Or(In.of(s, Seq(prefix("ab")), hasNull = false), StartsWith(s, prefix("abc")))),
    "year(day) = 1970" -> Seq(between(day, 0, 364)),
    "year(day) IN (1970)" -> Seq(between(day, 0, 364)),
    "date_add(day, 3) = DATE'1970-01-04'" ->
      Seq(Within(compare(day, LessOrEqual, Int.MaxValue - 3), compare(day, Equal, 0))),
    "trunc(day, 'MM') = DATE'1970-01-01'" ->
      Seq(Within(compare(day, GreaterOrEqual, Int.MinValue + 400), between(day, 0, 30))),
    "year(ts) = 1970" -> Seq(Within(known, between(ts, 0L, 365 * 86400000000L - 1))),
    "coalesce(i, 7) = 3" -> Seq(Choice(IsNotNull(i), compare(i, Equal, 3), Const.False)),
    "st = named_struct('n', 3, 't', 'a')" -> Seq(Or(And(equalFields, ofStructs), And(Const.Null, ofStructs))),
    "st.n < i" -> Seq(RangeComparison(ColumnRange(n), Less, ColumnRange(i))),
    "date_trunc('HOUR', ts) >= TIMESTAMP'1970-01-01 00:30:00'" ->
      Seq(Within(known, Not(compare(ts, Less, 3600000000L))))
  ).foreach { case (condition, expected) =>
    test(s"$condition is used") {
      // Spark's optimizer may know that no integer is so large.
      val isNever = condition == "i > 3000000000" && conjuncts(schema, condition).isEmpty
      assert(isNever || translated(condition) == expected)
    }
  }

  private val unknown = Seq(
    "FUNCTION_OF_COLUMN" -> Seq("hash(i) = 1", "i % s = 1", "right(s, 2) = 'ab'", "s RLIKE 'a.*'"),
    "COLLATION" -> Seq("lower = 'a'"),
    "TYPE_WITHOUT_STATISTICS" -> Seq("arr = array(1)"),
    "UNSUPPORTED_EXPRESSION" -> Seq("s LIKE 'ab_c'"),
    "NOT_DETERMINISTIC" -> Seq("rand() < 0.5")
  )

  for ((code, conditions) <- unknown; condition <- conditions) test(s"$condition is unknown: $code") {
    assert(translated(condition).flatMap(_.reasons).map(_.code.name).distinct == Seq(code))
  }

  test("a condition that cannot be used leaves the others as they are") {
    val both = translated("i = 3 AND reverse(s) = 'A'")
    assert(both.head == compare(i, Equal, 3) && both.drop(1).forall(_.isInstanceOf[Unknown]) && both.size == 2)
    assert(translated("(i = 3 AND reverse(s) = 'A') OR i = 5").head.reasons.size == 1)
  }

  test("a subquery is unknown") {
    spark.range(3).createOrReplaceTempView("three")
    assert(translated("l > (SELECT max(id) FROM three)").flatMap(_.reasons).map(_.code) == Seq(ReasonCode.Subquery))
  }

  test("the caller's reason is the reason") {
    val outside = Reason(ReasonCode.MetadataColumn, "`i` is not in the files")
    val parts = conjuncts(schema, "i = 3 AND i + 1 = 4").get.map(CatalystTranslator.translate(_, _ => Left(outside)))
    assert(parts.flatMap(_.reasons).distinct == Seq(outside))
  }

  test("a condition that is not deterministic is unknown as a whole") {
    val condition = org.apache.spark.sql.catalyst.expressions.And(LessThan(Rand(1L), Literal(0.5)), Literal(false))
    assert(CatalystTranslator.translate(condition, byName).isInstanceOf[Unknown])
  }

  test("IN with many values becomes InSet") {
    assert(conjuncts(schema, s"i IN (${(1 to 20).mkString(",")})").get.exists(_.isInstanceOf[InSet]))
  }
}
