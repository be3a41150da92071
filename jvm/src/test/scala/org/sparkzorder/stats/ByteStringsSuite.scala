package org.sparkzorder.stats

import org.scalacheck.Gen

import org.sparkzorder.PropertySuite

class ByteStringsSuite extends PropertySuite(10) {

  /**
   * Few different bytes, so that many strings agree in their first eight. Zeros are among them,
   * since missing bytes count as zeros.
   */
  private val string: Gen[Array[Byte]] =
    Gen.choose(0, 12).flatMap(Gen.listOfN(_, Gen.frequency(8 -> 0, 1 -> 1, 1 -> -1, 1 -> 127, 1 -> -128)))
      .map(_.map(_.toByte).toArray)

  test("the order of byte strings is that of their arrays") {
    forAll(Gen.listOf(Gen.zip(string, string)), minSuccessful(2000)) { pairs =>
      val (left, right) = (pairs.map(_._1).toArray, pairs.map(_._2).toArray)
      val (a, b) = (ByteStrings.of(left), ByteStrings.of(right))
      left.indices.foreach { i =>
        val expected = OrderedValue.compare(left(i), right(i)).sign
        assert(a.compare(i, b).sign == expected)
        assert(b.compare(i, a).sign == -expected)
        assert(a.compare(i, new ByteString(right(i))).sign == expected)
        assert(a.startsWith(i, right(i)) == left(i).startsWith(right(i)))
        assert(a(i).toSeq == left(i).toSeq && a.length(i) == left(i).length)
      }
      assert(a.length == left.length)
    }
  }

  test("missing strings are empty") {
    val strings = ByteStrings.of(Array(null, Array[Byte](1), null))
    assert((0 until 3).map(strings(_).toSeq) == Seq(Nil, Seq(1.toByte), Nil))
    assert((0 until 2).map(ByteStrings.empty(2)(_).toSeq) == Seq(Nil, Nil))
  }
}
