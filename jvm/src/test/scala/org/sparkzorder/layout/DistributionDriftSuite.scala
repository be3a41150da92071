package org.sparkzorder.layout

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class DistributionDriftSuite extends AnyFunSuite {
  private val random = new Random(4)
  private val known = ValueDistribution.ofLongs(Array.fill(2000)(random.nextInt(10000).toLong), nulls = 100)

  private def drift(values: Seq[Long]): DistributionDrift =
    DistributionDrift.of(IndexedSeq(known), values.map(v => IndexedSeq(known.place(v))).toIndexedSeq)

  test("there is no drift if new rows are like the old ones") {
    val d = drift(Seq.fill(2000)(random.nextInt(10000).toLong))
    assert(d.distance < 0.12 && d.beyond < 0.01 && d.fits)
  }

  test("the drift is total if all new rows are above the old ones") {
    val d = drift((20000L until 21000L).toSeq)
    assert(d.distance == 1 && d.beyond == 1 && !d.fits)
  }

  test("new rows of a single old value are far from the distribution, but the boundaries fit") {
    val d = drift(Seq.fill(1000)(known.values(1000)))
    assert(d.distance > 0.4 && d.beyond == 0 && d.fits)
  }

  test("null counts as a value") {
    val d = DistributionDrift.of(IndexedSeq(known), IndexedSeq.fill(10)(IndexedSeq(0)))
    assert(math.abs(d.distance - 2000d / 2100) < 1e-9 && d.fits)
    assert(DistributionDrift.of(IndexedSeq(known), IndexedSeq.empty) == DistributionDrift(0, 0))
  }
}
