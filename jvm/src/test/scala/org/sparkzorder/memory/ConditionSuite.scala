package org.sparkzorder.memory

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.types.StructType
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.memory.Condition.{End, NotNull, OneOf, Opaque, Range}
import org.sparkzorder.predicate.{LongValue, OptimizedConditions, Value}

class ConditionSuite extends AnyFunSuite with OptimizedConditions {
  private val values = (0L to 6L).map(LongValue(_))

  private val ends: Gen[Option[End]] =
    Gen.option(for (v <- Gen.oneOf(values); i <- Gen.oneOf(true, false)) yield End(v, i))

  private val made: Gen[Condition] = Gen.oneOf("a", "b").flatMap { subject =>
    Gen.oneOf(
      Gen.const(NotNull(subject)),
      Gen.const(Opaque(subject)),
      Gen.nonEmptyListOf(Gen.oneOf(values)).map(vs => OneOf(subject, vs.toSet)),
      for (low <- ends; high <- ends) yield Range(subject, low, high)
    )
  }

  /** Whether a row passes. None is null. `Opaque` conditions hold for even values. */
  private def passes(row: Map[String, Option[Value]])(c: Condition): Boolean = c match {
    case NotNull(s)   => row(s).isDefined
    case Opaque(s)    => row(s).exists { case LongValue(v) => v % 2 == 0; case _ => false }
    case OneOf(s, vs) => row(s).exists(vs)
    case r: Range     => row(r.subject).exists(r.holds)
  }

  test("a condition that implies another one lets pass no row that the other one stops") {
    val some = None +: values.map(Some(_))
    val rows = for (a <- some; b <- some) yield Map[String, Option[Value]]("a" -> a, "b" -> b)
    var implied = 0
    for (i <- 0 until 20000) {
      val (a, b) = Gen.zip(made, made).pureApply(Gen.Parameters.default, Seed(i.toLong))
      if (a != b && a.implies(b)) {
        implied += 1
        rows.foreach(row => assert(!passes(row)(a) || passes(row)(b), s"$a does not imply $b: $row"))
      }
    }
    assert(implied > 1000)
  }

  test("narrower ranges, fewer values and both with IS NOT NULL are implied") {
    def from(low: Long) = Range("a", Some(End(LongValue(low), inclusive = true)), None)
    def above(low: Long) = Range("a", Some(End(LongValue(low), inclusive = false)), None)
    def one(values: Long*) = OneOf("a", values.map(LongValue(_)).toSet)
    assert(from(5).implies(above(4)))
    assert(above(5).implies(from(5)))
    assert(!from(5).implies(above(5)))
    assert(from(5).implies(NotNull("a")))
    assert(one(5).implies(from(5)))
    assert(one(5).implies(one(5, 6)))
    assert(!one(5, 7).implies(one(5, 6)))
    assert(!one(5).copy(subject = "b").implies(NotNull("a")))
  }

  private val schema = StructType.fromDDL(
    "i INT, j INT, l BIGINT, d DOUBLE, s STRING, t TIMESTAMP, day DATE, a ARRAY<INT>, r STRUCT<x: INT>, n DECIMAL(10,2)"
  )

  private val reader = new ConditionReader((a: Attribute) => Some(s"${a.name} ${a.dataType.json}"))

  private def conditions(sql: String): Option[Set[Condition]] = conjuncts(schema, sql).flatMap { parts =>
    val read = parts.map(reader.of)
    if (read.exists(_.isEmpty)) None else Some(read.flatten.toSet)
  }

  private def implies(narrow: String, wide: String): Boolean = {
    val (n, w) = (conditions(narrow).get, conditions(wide).get)
    w.forall(c => n.contains(c) || n.exists(_.implies(c)))
  }

  /** Pairs of conditions, with a bar between them. */
  private def pairs(texts: String*): Seq[(String, String)] = texts.map { text =>
    val bar = text.indexOf(" | ")
    text.take(bar) -> text.drop(bar + 3)
  }

  test("the same condition, written in another way or in another plan, is the same") {
    for (
      (a, b) <- pairs(
        "i = 5 | 5 = i", "i > 5 AND s LIKE '%a%' | s LIKE '%a%' AND 5 < i", "upper(s) = 'A' | 'A' = upper(s)",
        "i + j = 5 | 5 = i + j", "i IN (1, 2, 2) | i IN (2, 1)", "s = 'a' | 'a' = s"
      )
    ) assert(implies(a, b) && implies(b, a), s"$a, $b: ${conditions(a)} ${conditions(b)}")
  }

  test("conditions that look alike and differ are told apart") {
    for (
      (a, b) <- pairs(
        "i + j = 5 | i + j = 6", "i - j = 5 | j - i = 5", "cast(i AS STRING) LIKE '%1' | cast(l AS STRING) LIKE '%1'",
        "cast(d AS INT) = 5 | cast(d AS BIGINT) = 5", "try_cast(s AS INT) = 5 | cast(s AS INT) = 5",
        "s LIKE 'a\\\\%b%'  | s LIKE 'a%b%'", "s LIKE '%a/_' ESCAPE '/' | s LIKE '%a/_'",
        "substr(s, 1, 2) = 'ab' | substr(s, 2, 1) = 'ab'", "i / j > 1 | j / i > 1",
        "round(d, 1) = 1 | round(d, 2) = 1", "d = 'NaN' OR i = 3 | d = 0.0D OR i = 3",
        "concat(s, 'a,b') = 'x' | concat(s, 'a', 'b') = 'x'",
        "CASE WHEN i = 1 THEN 2 ELSE j END = 3 | CASE WHEN i = 1 THEN j ELSE 2 END = 3",
        "element_at(a, 1) = 1 | try_element_at(a, 1) = 1", "n * 2 = 4 | n * 2.0 = 5",
        "date_format(t, 'yyyy') = '2020' | date_format(t, 'yyyyy') = '2020'"
      )
    ) assert(!(implies(a, b) && implies(b, a)), s"$a, $b: ${conditions(a)}")
  }

  test("narrower conditions imply wider ones, and no others do") {
    for (
      (narrow, wide) <- pairs(
        "i = 7 | i > 5", "i BETWEEN 6 AND 8 | i >= 6", "i IN (6, 7) | i IN (5, 6, 7)", "s = 'b' | s IN ('a', 'b')",
        "upper(s) > 'A' AND i = 1 | upper(s) > 'A'", "n > 1.50 | n > 1.5", "l = 7 | l IN (6, 7)",
        "d > double('NaN') - 1 OR d = 3 | d > double('NaN') - 1 OR d = 3",
        "day >= DATE'2020-02-01' AND i = 1 | day >= DATE'2020-02-01'"
      )
    ) assert(implies(narrow, wide), s"$narrow, $wide: ${conditions(narrow)} ${conditions(wide)}")
    for (
      (narrow, wide) <- pairs(
        "i > 5 | i > 6", "i > 5 | j > 5", "i > 5 | l > 5", "i < 5 | i > 4", "i <> 5 | i > 5", "d > 2.0D | d > 1.0D",
        "s = 'b' | s > 'a'", "s > 'b' | s > 'a'", "d = 0.0D | d = -0.0D",
        "day = DATE'1582-10-15' | day > DATE'1582-10-06'",
        "t > TIMESTAMP'2020-01-02 00:00:00' | t > TIMESTAMP'2020-01-01 00:00:00'"
      )
    ) assert(!implies(narrow, wide), s"$narrow, $wide")
  }

  test("expressions that say less than their value depends on are not remembered") {
    for (
      sql <- Seq(
        "rand() < i", "uuid() = s", "exists(a, x -> x = i)", "monotonically_increasing_id() = l",
        "spark_partition_id() = i", "input_file_name() = s", "reflect('java.lang.System', 'getProperty', s) = 'x'"
      )
    ) assert(conditions(sql).isEmpty, sql)
  }
}
