package org.sparkzorder.memory

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.memory.Condition.{End, NotNull, OneOf, Opaque, Range}
import org.sparkzorder.predicate.{LongValue, Value}

class ConditionSuite extends AnyFunSuite {
  private val values = (0L to 6L).map(LongValue(_))

  private val ends: Gen[Option[End]] =
    Gen.option(for (v <- Gen.oneOf(values); i <- Gen.oneOf(true, false)) yield End(v, i))

  private val conditions: Gen[Condition] = for {
    subject <- Gen.oneOf("a", "b")
    made <- Gen.oneOf(
      Gen.const(NotNull(subject)),
      Gen.const(Opaque(subject)),
      Gen.nonEmptyListOf(Gen.oneOf(values)).map(vs => OneOf(subject, vs.toSet)),
      for (low <- ends; high <- ends) yield Range(subject, low, high)
    )
  } yield made

  /** Whether a row passes. None is null. `Opaque` conditions hold for even values. */
  private def passes(row: Map[String, Option[Value]])(c: Condition): Boolean = c match {
    case NotNull(s)   => row(s).isDefined
    case Opaque(s)    => row(s).exists { case LongValue(v) => v % 2 == 0; case _ => false }
    case OneOf(s, vs) => row(s).exists(vs)
    case r: Range     => row(r.subject).exists(r.holds)
  }

  private val rows = for {
    a <- None +: values.map(Some(_))
    b <- None +: values.map(Some(_))
  } yield Map[String, Option[Value]]("a" -> a, "b" -> b)

  test("a condition that implies another one lets pass no row that the other one stops") {
    var implied = 0
    for (i <- 0 until 20000) {
      val (a, b) = Gen.zip(conditions, conditions).pureApply(Gen.Parameters.default, Seed(i.toLong))
      if (a != b && a.implies(b)) {
        implied += 1
        rows.foreach(row => assert(!passes(row)(a) || passes(row)(b), s"$a does not imply $b: $row"))
      }
    }
    assert(implied > 1000)
  }

  test("narrower ranges, fewer values and both with IS NOT NULL are implied") {
    def range(low: Long, inclusive: Boolean) = Range("a", Some(End(LongValue(low), inclusive)), None)
    assert(range(5, inclusive = true).implies(range(4, inclusive = false)))
    assert(range(5, inclusive = false).implies(range(5, inclusive = true)))
    assert(!range(5, inclusive = true).implies(range(5, inclusive = false)))
    assert(range(5, inclusive = true).implies(NotNull("a")))
    assert(OneOf("a", Set(LongValue(5))).implies(range(5, inclusive = true)))
    assert(OneOf("a", Set(LongValue(5))).implies(OneOf("a", Set(LongValue(5), LongValue(6)))))
    assert(!OneOf("a", Set(LongValue(5), LongValue(7))).implies(OneOf("a", Set(LongValue(5), LongValue(6)))))
    assert(!OneOf("b", Set(LongValue(5))).implies(NotNull("a")))
  }
}
