package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.util.{GenericArrayData, TypeUtils}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.stats.RandomValues

class RangeIdSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def bounds(elements: Seq[Any], dataType: DataType): Expression =
    Literal(new GenericArrayData(elements.toArray[Any]), ArrayType(dataType))

  private def of(dataType: DataType, elements: Seq[Any]): Expression =
    RangeId(BothWays.input(0, dataType), bounds(elements, dataType))

  test("it counts the smaller bounds, for every type, interpreted and by generated code") {
    forAll(minSuccessful(200)) { (seed: Long) =>
      val values = new RandomValues(seed)
      val dataType = values.atomicType()
      val order = TypeUtils.getInterpretedOrdering(dataType)
      val elements = Seq.fill(values.random.nextInt(8))(values.value(dataType)).sorted(order)
      val e = of(dataType, elements)
      Seq.fill(4)(values.value(dataType)).foreach { v =>
        assert(BothWays(e, v) == elements.count(order.lt(_, v)), s"$dataType: $v in $elements")
      }
      assert(BothWays(e, null) == 0)
    }
  }

  test("a bound belongs to the range that it ends") {
    val e = of(IntegerType, Seq(10, 20, 30))
    assert(Seq(9, 10, 11, 20, 30, 31).map(BothWays(e, _)) == Seq(0, 0, 1, 1, 2, 3))
    assert(BothWays(of(IntegerType, Nil), 5) == 0)
    assert(Seq(1, 2, 3).map(BothWays(of(IntegerType, Seq(2, 2, 2)), _)) == Seq(0, 0, 3))
  }

  test("bounds must be a constant array of the value's type, ascending and without null") {
    def wrong(value: DataType, array: Expression): Boolean =
      RangeId(BothWays.input(0, value), array).checkInputDataTypes().isFailure
    assert(wrong(IntegerType, bounds(Seq(2, 1), IntegerType)) && wrong(IntegerType, bounds(Seq(1, null), IntegerType)))
    assert(wrong(IntegerType, Literal(null, ArrayType(IntegerType))) && wrong(IntegerType, Literal(1)))
    assert(wrong(IntegerType, BothWays.input(1, ArrayType(IntegerType))))
    assert(wrong(IntegerType, bounds(Nil, StringType)) && wrong(ArrayType(IntegerType), bounds(Nil, IntegerType)))
  }

  test("numbers of different types are cast to a common type") {
    val e = RangeId(BothWays.input(0, LongType), bounds(Seq(1, 2), IntegerType))
    assert(e.inputTypes == Seq(LongType, ArrayType(LongType)))
    val decimals = RangeId(BothWays.input(0, DecimalType(10, 2)), bounds(Nil, DecimalType(4, 3)))
    assert(decimals.inputTypes == Seq(DecimalType(11, 3), ArrayType(DecimalType(11, 3))))
  }
}
