package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.stats.RandomValues

class OrderedBytesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 2000)

  private def bytes(dataType: DataType, value: Any): Array[Byte] = OrderedBytes.of(dataType, value)

  private def hex(dataType: DataType, value: Any): String = bytes(dataType, value).map(b => f"$b%02X").mkString

  test("the unsigned order of the bytes is Spark's order, for every type") {
    forAll { (seed: Long) =>
      val values = new RandomValues(seed)
      val dataType = values.atomicType()
      val (x, y) = (values.value(dataType), values.value(dataType))
      val expected = TypeUtils.getInterpretedOrdering(dataType).compare(x, y)
      val found = java.util.Arrays.compareUnsigned(bytes(dataType, x), bytes(dataType, y))
      assert(found.sign == expected.sign, s"$dataType: $x, $y")
    }
  }

  test("strings of other collations are in their order") {
    for (name <- Seq("UTF8_LCASE", "UNICODE", "UNICODE_CI", "UTF8_BINARY_RTRIM")) {
      val dataType = StringType(name)
      val order = TypeUtils.getInterpretedOrdering(dataType)
      val words = Seq("", "a", "A", "b", "B ", "b", "ä", "z", "Zebra", "zebra").map(UTF8String.fromString)
      for (x <- words; y <- words) {
        val found = java.util.Arrays.compareUnsigned(bytes(dataType, x), bytes(dataType, y)).sign
        assert(found == order.compare(x, y).sign, s"$name: '$x', '$y'")
      }
    }
  }

  test("interpreted and generated code agree on every type, and null gives null") {
    forAll(minSuccessful(150)) { (seed: Long) =>
      val values = new RandomValues(seed)
      val dataType = values.atomicType()
      val e = OrderedBytes(BothWays.input(0, dataType))
      assert(BothWays(e, values.value(dataType)) != null)
      assert(BothWays(e, null) == null)
    }
    assert(BothWays(OrderedBytes(Literal(null))) == null)
    assert(BothWays(OrderedBytes(BothWays.input(0, StringType("UNICODE_CI"))), UTF8String.fromString("aB")) != null)
  }

  test("a value has as many bytes as its type") {
    assert(hex(BooleanType, true) == "81" && hex(ByteType, -1.toByte) == "7F" && hex(ShortType, 1.toShort) == "8001")
    assert(hex(IntegerType, 1) == "80000001" && hex(DateType, -1) == "7FFFFFFF")
    assert(hex(LongType, 0L) == "8000000000000000" && hex(TimestampType, -1L) == "7FFFFFFFFFFFFFFF")
    assert(hex(FloatType, -0.0f) == "80000000" && hex(FloatType, 1f) == "BF800000")
    assert(hex(DoubleType, -1.5d) == "4007FFFFFFFFFFFF")
    assert(hex(DecimalType(4, 2), Decimal("1.50")) == "8000000000000096")
    assert(hex(DecimalType(20, 0), Decimal("-1")) == "7" + "F" * 31)
    assert(hex(StringType, UTF8String.fromString("ab")) == "6162" && hex(BinaryType, Array[Byte](0, -1)) == "00FF")
  }

  test("types without an order are refused") {
    RandomValues.withoutOrder.foreach { dataType =>
      assert(OrderedBytes(Literal(null, dataType)).checkInputDataTypes().isFailure, dataType)
    }
  }
}
