package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, Rand}
import org.apache.spark.sql.types.{IntegerType, LongType}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.layout.HilbertCurve

class HilbertValueSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def of(bits: Int, columns: Int): Expression =
    HilbertValue(Literal(bits) +: (0 until columns).map(BothWays.input(_, LongType)))

  private val points = for {
    columns <- Gen.choose(1, 8)
    bits <- Gen.choose(1, HilbertValue.MaxBits / columns)
    ids <- Gen.listOfN(columns, Gen.choose(0L, (1L << bits) - 1))
  } yield (bits, ids)

  test("it is the value of the curve, interpreted and by generated code") {
    forAll(points, minSuccessful(60)) { case (bits, ids) =>
      assert(BothWays(of(bits, ids.length), ids: _*) == HilbertCurve.value(ids.toArray, bits))
    }
  }

  test("it is null when an id is null") {
    assert(BothWays(of(4, 3), 1L, null, 2L) == null)
  }

  test("only the lowest bits of an id count") {
    assert(BothWays(of(2, 2), 4L + 3, -4L) == BothWays(of(2, 2), 3L, 0L))
  }

  test("one column gives its id, and it also works for so many columns that the generated code is split") {
    assert(BothWays(of(63, 1), Long.MaxValue) == Long.MaxValue)
    assert(BothWays(of(1, 63), Seq.fill(63)(1L): _*).asInstanceOf[Long] > 0)
  }

  test("the number of bits must be a constant that fits, and there must be an id") {
    def wrong(children: Expression*): Boolean = HilbertValue(children).checkInputDataTypes().isFailure
    val id = Literal(1L)
    assert(wrong() && wrong(Literal(3)))
    assert(wrong(Literal(0), id) && wrong(Literal(-1), id) && wrong(Literal(null, IntegerType), id))
    assert(wrong(Literal(64), id) && wrong(Literal(32), id, id) && wrong(Literal(Int.MaxValue), id, id, id))
    assert(wrong(Literal(1) +: Seq.fill(64)(id): _*))
    assert(wrong(BothWays.input(0, IntegerType), id))
    assert(wrong(Literal(2), Rand(Literal(1))))
    assert(!wrong(Literal(31), id, id))
  }
}
