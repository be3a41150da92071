package org.sparkzorder.workload

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.types.{LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.layout.FileBounds
import org.sparkzorder.predicate._

class ColumnConstraintSuite extends AnyFunSuite {
  import ColumnConstraint.{Between, Values}

  private val a = Column(Seq("a"), LongType)
  private val b = Column(Seq("b"), LongType)
  private val s = Column(Seq("s"), StringType)
  private def is(c: Column, operator: Operator, v: Long): StatsPredicate = Comparison(c, operator, LongValue(v))
  private def equal(c: Column, v: Long): StatsPredicate = is(c, Operator.Equal, v)
  private def value(v: Long): Option[Value] = Some(LongValue(v))
  private val unknown = Unknown(Reason(ReasonCode.Subquery, ""))

  test("a conjunction gives a constraint on each of its columns") {
    val p = And(And(equal(a, 1), is(b, Operator.Less, 9)), And(IsNotNull(b), is(b, Operator.GreaterOrEqual, 2)))
    assert(ColumnConstraint.of(p) == Map(a -> Values(Set(LongValue(1))), b -> Between(value(2), value(9))))
    assert(ColumnConstraint.of(And(p, unknown)) == ColumnConstraint.of(p))
    assert(ColumnConstraint.of(And(is(a, Operator.LessOrEqual, 3), is(a, Operator.GreaterOrEqual, 3))) ==
      Map(a -> Values(Set(LongValue(3)))))
    assert(ColumnConstraint.of(And(is(a, Operator.Less, 3), is(a, Operator.Less, 7))) ==
      Map(a -> Between(None, value(3))))
  }

  test("alternatives of one column give its values or their range; alternatives of several columns give nothing") {
    assert(ColumnConstraint.of(Or(equal(a, 1), equal(a, 5))) == Map(a -> Values(Set(LongValue(1), LongValue(5)))))
    assert(ColumnConstraint.of(Or(equal(a, 1), is(a, Operator.Greater, 5))) == Map(a -> Between(value(1), None)))
    assert(ColumnConstraint.of(Or(equal(a, 1), equal(b, 5))) == Map.empty)
    assert(ColumnConstraint.of(Or(And(equal(a, 1), equal(b, 2)), equal(a, 5))).keySet == Set(a))
    assert(ColumnConstraint.of(Or(equal(a, 1), unknown)) == Map.empty)
    assert(ColumnConstraint.of(Or(Const.False, equal(a, 1))) == ColumnConstraint.of(equal(a, 1)))
  }

  test("lists and prefixes give constraints, and null tests give none") {
    assert(ColumnConstraint.of(In.of(a, Seq(LongValue(2), LongValue(1)), hasNull = true)) ==
      Map(a -> Values(Set(LongValue(1), LongValue(2)))))
    assert(ColumnConstraint.of(And(equal(b, 1), In.of(a, Nil, hasNull = false))) == Map.empty)
    assert(ColumnConstraint.of(Not(equal(a, 1))) == Map.empty)
    assert(ColumnConstraint.of(IsNull(a)) == Map.empty)
    val prefix = new BytesValue("ab".getBytes(UTF_8))
    val found = ColumnConstraint.of(StartsWith(s, prefix))
    assert(found.keySet == Set(s))
    val Between(low, high) = found(s): @unchecked
    assert(low.contains(prefix) && Value.ordering.gt(high.get, new BytesValue("ab\uffff".getBytes(UTF_8))))
    assert(Value.ordering.lt(high.get, new BytesValue("ac".getBytes(UTF_8))))
  }

  test("only ranks of values are recorded") {
    val axis = RankAxis.of(IndexedSeq(FileBounds.Longs(0, 100) -> 10L), floating = false).get
    def observed(p: StatsPredicate) =
      ColumnConstraint.of(p).get(a).flatMap(ColumnConstraint.observed(ColumnUse(Seq("a"), _), _, axis))
    def use(form: Form, starts: Seq[Double], ends: Seq[Double]) = ObservedUse(ColumnUse(Seq("a"), form), starts, ends)
    assert(observed(equal(a, 25)).contains(use(Form.Equal, Seq(0.25), Nil)))
    assert(observed(is(a, Operator.Greater, 50)).contains(use(Form.Range, Seq(0.5), Nil)))
    assert(observed(is(a, Operator.Less, 50)).contains(use(Form.Range, Nil, Seq(0.5))))
    val many = observed(In.of(a, (0L to 100L).map(LongValue(_)), hasNull = false)).get
    assert(many.use.form == Form.In && many.starts.length <= 64 && many.starts.length >= 32)
  }

  private def assume(assumed: AssumedRanks, asked: ColumnConstraint): Option[ObservedUse] =
    assumed.observed(ColumnUse(Seq("a"), _), asked)

  test("values that no statistics rank are spread evenly") {
    val assumed = new AssumedRanks
    val ranks = Seq.fill(64)(assume(assumed, Values(Set(LongValue(7)))).get).map(_.starts.head)
    assert(ranks.forall(r => r >= 0 && r < 1))
    // Each sixteenth of the column gets its share, more or less one.
    val counts = ranks.groupBy(r => (r * 16).toInt).map(_._2.size)
    assert(counts.size == 16 && counts.forall(n => n >= 3 && n <= 5), counts)
  }

  test("the form of a constraint without statistics is kept") {
    val assumed = new AssumedRanks
    assert(assume(assumed, Values(Set(LongValue(1)))).map(_.use.form).contains(Form.Equal))
    val in = assume(assumed, Values((1L to 100L).map(LongValue(_)).toSet)).get
    assert(in.use.form == Form.In && in.starts.size == ColumnConstraint.MaxValues && in.ends.isEmpty)
    val both = assume(assumed, Between(value(1), value(2))).get
    assert(both.use.form == Form.Range && math.abs(both.ends.head - both.starts.head - 0.25) < 1e-9)
    assert(both.starts.head >= 0 && both.ends.head <= 1)
    def sizes(low: Option[Value], high: Option[Value]) =
      assume(assumed, Between(low, high)).map(found => (found.starts.size, found.ends.size))
    assert(sizes(value(1), None).contains((1, 0)) && sizes(None, value(1)).contains((0, 1)))
    assert(sizes(None, None).isEmpty)
  }
}
