package org.sparkzorder.repartition

import org.scalatest.funsuite.AnyFunSuite

class SampledKeysSuite extends AnyFunSuite {

  /** The sample of a task's rows, after it was serialized. */
  private def drawn(task: Int, capacity: Int, rows: Seq[Long]): SampledKeys = {
    val keys = new SampledKeys(task, capacity)
    rows.foreach(v => keys.add(() => IndexedSeq(if (v % 7 == 0) null else v)))
    PlanBytes.read[SampledKeys](PlanBytes.write(keys))
  }

  private def values(keys: SampledKeys, wanted: Int): Seq[Any] = {
    val sample = keys.sample(wanted, Seq(true))
    (0 until sample.rows).map(sample.key(_).head)
  }

  test("if there are few rows, all of them are the sample") {
    val all = drawn(0, 100, Nil).merge(drawn(1, 100, 1L to 50)).merge(drawn(2, 100, 51L to 60))
    val expected = (1L to 60).map(v => if (v % 7 == 0) null else v)
    assert(values(all, 1000).toSet == expected.toSet && values(all, 1000).length == 60)
    assert(values(drawn(0, 100, Nil), 1000) == Nil)
  }

  test("the order in which tasks are merged does not matter") {
    def task(i: Int) = drawn(i, 100, i * 1000L until (i + 1) * 1000L)
    val forth = (0 until 9).map(task).reduceLeft(_ merge _)
    val back = (0 until 9).reverse.map(task).reduceLeft(_ merge _)
    assert(values(forth, 500) == values(back, 500))
  }

  test("every row is equally likely, also in tasks that have seen more rows than they can keep") {
    // One task has nine tenths of the rows, and can keep a ninth of its share of the sample.
    val all = drawn(0, 1000, 0L until 90000).merge(drawn(1, 1000, 90000L until 100000))
    val known = values(all, 10000).collect { case v: Long => v }
    assert(math.abs(known.length - 10000 * 6 / 7) < 400)
    val large = known.count(_ < 90000).toDouble / known.length
    assert(math.abs(large - 0.9) < 0.01)
    // The position in a task does not matter either: the mean of the sampled numbers is that of all
    // numbers.
    assert(math.abs(known.sum.toDouble / known.length - 50000) < 2500)
  }

  test("many small tasks are sampled at the same rate") {
    val all = (0 until 3000).map(i => drawn(i, 64, i * 3L until i * 3L + 3)).reduceLeft(_ merge _)
    assert(math.abs(values(all, 900).length - 900) < 120)
  }
}
