package org.sparkzorder.layout

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class QueryBoxSuite extends AnyFunSuite {
  test("the example of the literature: two columns of three bits, y leads, x from 2 to 3 and y from 2 to 6") {
    val plan = BitPlan.ofSequence(Seq(0, 1, 0, 1, 0, 1), 2)
    val box = new QueryBox(plan, Array(2L, 2L), Array(6L, 3L))
    assert((box.first, box.last) == (12L, 45L))
    assert(box.next(20) == 36)
    val other = new QueryBox(BitPlan.ofSequence(Seq(1, 0, 1, 0, 1, 0), 2), Array(2L, 2L), Array(6L, 3L))
    assert((other.first, other.last) == (12L, 30L))
    assert(other.next(20) == 24)
  }

  test("the next point of a box is the one that a search through all values finds, for any columns and bits") {
    val random = new Random(5)
    var jumps = 0
    for (_ <- 1 to 3000) {
      val columns = 1 + random.nextInt(4)
      val plan = BitPlan.ofSequence(Seq.fill(random.nextInt(9))(random.nextInt(columns)), columns)
      val ends = (0 until columns).map { c =>
        val a = random.nextInt(1 << plan.bits(c)).toLong
        val b = random.nextInt(1 << plan.bits(c)).toLong
        (math.min(a, b), math.max(a, b))
      }
      val box = new QueryBox(plan, ends.map(_._1).toArray, ends.map(_._2).toArray)
      val size = 1 << plan.totalBits
      val inside = (0 until size).map { z =>
        ZCurve.point(plan, z.toLong).zip(ends).forall { case (id, (low, high)) => low <= id && id <= high }
      }
      val next = new Array[Long](size + 1)
      next(size) = -1L
      (size - 1 to 0 by -1).foreach(z => next(z) = if (inside(z)) z.toLong else next(z + 1))
      (0 until size).foreach { z =>
        assert(box.next(z.toLong) == next(z), s"${plan.sequence}, $ends, from $z")
        if (next(z) > z) jumps += 1
        val to = z + random.nextInt(size - z)
        val meets = inside.slice(z, to + 1).contains(true)
        assert(box.meets(z.toLong, to.toLong) == meets, s"${plan.sequence}, $ends, $z to $to")
      }
    }
    assert(jumps > 10000)
  }

  test("curves of 62 bits, with boxes of all points and of a single one") {
    val plan = BitPlan(Seq(1d, 1d, 1d), 21, 62)
    val most = (0 until 3).map(c => (1L << plan.bits(c)) - 1).toArray
    val all = new QueryBox(plan, Array(0L, 0L, 0L), most)
    assert((all.first, all.last) == (0L, (1L << 62) - 1))
    val random = new Random(6)
    for (_ <- 1 to 10000) {
      val z = random.nextLong() & ((1L << 62) - 1)
      assert(all.next(z) == z)
      val point = ZCurve.point(plan, z)
      val one = new QueryBox(plan, point, point)
      assert(one.next(0) == z && one.next(z) == z && one.meets(z, z))
      if (z < (1L << 62) - 1) assert(one.next(z + 1) == -1 && !one.meets(z + 1, (1L << 62) - 1))
    }
  }
}
