package org.sparkzorder.workload

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.predicate.LongValue

class AssumedRanksSuite extends AnyFunSuite {
  import ColumnConstraint._

  private def use(form: Form) = ColumnUse(Seq("a"), form)

  private def value(v: Long) = LongValue(v)

  test("values that no statistics rank are spread evenly") {
    val assumed = new AssumedRanks
    val ranks = Seq.fill(64)(assumed.observed(use, Values(Set(value(7)))).get).map(_.starts.head)
    assert(ranks.forall(r => r >= 0 && r < 1))
    // Each sixteenth of the column gets its share, more or less one.
    val counts = ranks.groupBy(r => (r * 16).toInt).map(_._2.size)
    assert(counts.size == 16 && counts.forall(n => n >= 3 && n <= 5), counts)
  }

  test("the form of a constraint is kept") {
    val assumed = new AssumedRanks
    def observed(asked: ColumnConstraint) = assumed.observed(use, asked)
    assert(observed(Values(Set(value(1)))).map(_.use.form).contains(Form.Equal))
    val in = observed(Values((1L to 100L).map(value).toSet)).get
    assert(in.use.form == Form.In && in.starts.size == ColumnConstraint.MaxValues && in.ends.isEmpty)
    val both = observed(Between(Some(value(1)), Some(value(2)))).get
    assert(both.use.form == Form.Range && math.abs(both.ends.head - both.starts.head - 0.25) < 1e-9)
    assert(both.starts.head >= 0 && both.ends.head <= 1)
    val low = observed(Between(Some(value(1)), None)).get
    assert(low.starts.size == 1 && low.ends.isEmpty)
    val high = observed(Between(None, Some(value(1)))).get
    assert(high.starts.isEmpty && high.ends.size == 1)
    assert(observed(Between(None, None)).isEmpty)
  }
}
