package org.sparkzorder.layout

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream, IOException}

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class FrameBytesSuite extends AnyFunSuite {
  private def distribution(random: Random): ValueDistribution = {
    val n = random.nextInt(30)
    val nulls = random.nextInt(3)
    def value = if (random.nextBoolean()) random.nextLong() else random.nextInt(5).toLong
    if (random.nextBoolean()) ValueDistribution.ofLongs(Array.fill(n)(value), nulls)
    else ValueDistribution.ofBytes(Array.fill(n)(random.nextBytes(random.nextInt(5))), nulls)
  }

  private def frame(random: Random): (IndexedSeq[ValueDistribution], Curve) = {
    val columns = 1 + random.nextInt(4)
    val plan = BitPlan(Seq.fill(columns)(1d + random.nextInt(3)), 1 + random.nextInt(15), random.nextInt(62))
    val curve = if (random.nextBoolean()) HilbertCurve.of(plan, random.nextInt(12)) else plan
    (IndexedSeq.fill(columns)(distribution(random)), curve)
  }

  private def written(frame: (IndexedSeq[ValueDistribution], Curve)): Array[Byte] = {
    val buffer = new ByteArrayOutputStream
    FrameBytes.write(new DataOutputStream(buffer), frame._1, frame._2)
    buffer.toByteArray
  }

  private def read(bytes: Array[Byte]) =
    FrameBytes.read(new DataInputStream(new ByteArrayInputStream(bytes)), bytes.length)

  test("a frame that was written and read has the same ids and the same curve") {
    val random = new Random(1)
    for (_ <- 1 to 500) {
      val made = frame(random)
      val (distributions, curve) = read(written(made))
      assert(curve.columns == made._2.columns && curve.totalBits == made._2.totalBits)
      distributions.zip(made._1).foreach {
        case (a: LongDistribution, b: LongDistribution)   => assert(a.values.toSeq == b.values.toSeq)
        case (a: BytesDistribution, b: BytesDistribution) =>
          assert(a.values.map(_.toSeq).toSeq == b.values.map(_.toSeq).toSeq)
        case (a, b) => fail(s"$b became $a")
      }
      for (c <- distributions.indices; place <- 0 until distributions(c).places) {
        val id = distributions(c).id(place, curve.bits(c))
        assert(id == made._1(c).id(place, curve.bits(c)))
        assert(curve.value(curve.spread(c, id)) == made._2.value(made._2.spread(c, id)))
      }
    }
  }

  test("of strings that begin alike only the differing ends are stored, but not too few bytes") {
    val paths = Array.tabulate(1000)(i => f"https://example.com/one/and/the/same/folder/$i%04d".getBytes)
    val d = ValueDistribution.ofBytes(paths, 0)
    val plan = BitPlan(Seq(1d), 20, 20)
    val bytes = written((IndexedSeq(d), plan))
    assert(bytes.length < 7 * paths.length && bytes.length > 48 * paths.length / 16)
    val back = read(bytes)._1.head.asInstanceOf[BytesDistribution].values
    assert(back.map(new String(_)).toSeq == paths.map(new String(_)).toSeq)
    // These bytes try to fill the memory: each value is the one before with one more byte.
    val out = new ByteArrayOutputStream
    val data = new DataOutputStream(out)
    FrameBytes.write(data, IndexedSeq.empty, BitPlan.ofSequence(Nil, 1))
    val values = 1000
    Seq(1, 0, values & 0x7f | 0x80, values >> 7).foreach(data.writeByte(_))
    (1 to values).foreach(_ => data.writeByte(1))
    (0 until values).foreach { i =>
      if (i < 128) data.writeByte(i) else { data.writeByte(i & 0x7f | 0x80); data.writeByte(i >> 7) }
      data.writeByte(1)
      data.writeByte('a')
    }
    assert(intercept[IOException](read(out.toByteArray)).getMessage.contains("share too much"))
  }

  test("the size of boundaries is known before they are written, and fitted ones keep to their bytes") {
    val random = new Random(3)
    var thinned = 0
    for (_ <- 1 to 500) {
      val (distributions, curve) = frame(random)
      val sizes = distributions.map(FrameBytes.size)
      assert(written((distributions, curve)).length - written((Nil.toIndexedSeq, curve)).length == sizes.sum)
      val room = random.nextInt(400).toLong
      val fitted = FrameBudget.fit(distributions, room, 1 + random.nextInt(9))
      assert(fitted.map(FrameBytes.size).sum <= math.max(room, 16L * 20 * distributions.size))
      if (sizes.sum <= room) assert(fitted == distributions)
      else if (fitted != distributions) thinned += 1
    }
    assert(thinned > 50)
    // Columns that need few bytes leave the rest to the others.
    val few = ValueDistribution.ofLongs(Array.tabulate(100)(_.toLong), 0)
    val many = ValueDistribution.ofLongs(Array.fill(50000)(random.nextLong()), 0)
    val fitted = FrameBudget.fit(IndexedSeq(many, few, many), 100000, 100)
    assert(fitted(1) eq few)
    Seq(0, 2).foreach { c =>
      val size = FrameBytes.size(fitted(c))
      assert(size <= 50000 && size > 40000, size)
    }
    assert(FrameBudget.of(4) == 384 && FrameBudget.of(1000) == 96000 && FrameBudget.of(10000000) == 8 << 20)
  }

  test("damaged bytes give an error or another frame that can be used") {
    val random = new Random(2)
    var refused = 0
    for (_ <- 1 to 3000) {
      val bytes = written(frame(random))
      val damaged =
        if (random.nextBoolean()) bytes.take(random.nextInt(bytes.length))
        else bytes.updated(random.nextInt(bytes.length), random.nextInt().toByte)
      try {
        val (distributions, curve) = read(damaged)
        // A frame that was accepted can be used.
        for (c <- distributions.indices; place <- 0 until distributions(c).places)
          curve.spread(c, distributions(c).id(place, curve.bits(c)))
      } catch { case _: IOException => refused += 1 }
    }
    assert(refused > 1000)
  }
}
