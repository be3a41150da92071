package org.sparkzorder.stats

import java.lang.{Long => JLong}

import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class OrderedValueSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 3000)

  private def compare(a: Any, b: Any): Int = ((a, b): @unchecked) match {
    case (x: JLong, y: JLong)             => x.compareTo(y)
    case (x: Array[Byte], y: Array[Byte]) => OrderedValue.compare(x, y)
  }

  test("the order of encoded values is Spark's order") {
    forAll { (seed: Long) =>
      val values = new RandomValues(seed)
      val dt = values.atomicType()
      val (x, y) = (values.value(dt), values.value(dt))
      val expected = TypeUtils.getInterpretedOrdering(dt).compare(x, y)
      val actual = compare(OrderedValue.encode(dt, x), OrderedValue.encode(dt, y))
      assert(actual.sign == expected.sign, s"$dt: $x, $y")
    }
  }

  test("decode returns the value that was encoded") {
    forAll { (seed: Long) =>
      val values = new RandomValues(seed)
      val dt = values.atomicType()
      val x = values.value(dt)
      val back = OrderedValue.decode(dt, OrderedValue.encode(dt, x))
      assert(TypeUtils.getInterpretedOrdering(dt).compare(x, back) == 0, s"$dt: $x, $back")
      assert(OrderedValue.display(dt, OrderedValue.encode(dt, x)) != null)
    }
  }

  test("types without an order of bytes have no encoding") {
    (RandomValues.withoutOrder ++ Seq(NullType, StringType("UTF8_LCASE"), StringType("UNICODE"))).foreach { dt =>
      assert(OrderedValue.encoding(dt).isEmpty, dt)
    }
    assert(OrderedValue.encoding(CharType(3)).contains(Encoding.Bytes))
    assert(OrderedValue.encoding(VarcharType(3)).contains(Encoding.Bytes))
    assert(OrderedValue.encoding(DecimalType(18, 2)).contains(Encoding.Longs))
    assert(OrderedValue.encoding(DecimalType(19, 2)).contains(Encoding.Bytes))
    assert(OrderedValue.encoding(TimeType(6)).contains(Encoding.Longs))
  }

  test("decimals are encoded at the type's scale") {
    assert(OrderedValue.encode(DecimalType(5, 2), Decimal("1.5")) == 150L)
    assert(OrderedValue.encode(DecimalType(5, 2), Decimal("1.5000")) == 150L)
    intercept[IllegalArgumentException](OrderedValue.encode(DecimalType(5, 2), Decimal("1.555")))
    intercept[IllegalArgumentException](OrderedValue.encode(DecimalType(5, 2), Decimal("1000")))
    intercept[IllegalArgumentException](OrderedValue.encode(IntegerType, null))
    intercept[IllegalArgumentException](OrderedValue.encode(IntegerType, 1L))
  }

  test("bounds are shown as Spark casts them") {
    def shown(dt: DataType, v: Any) = OrderedValue.display(dt, OrderedValue.encode(dt, v))
    assert(shown(BooleanType, true) == "true")
    assert(shown(DateType, 19000) == "2022-01-08")
    assert(shown(TimestampType, 1500000L) == "1970-01-01 00:00:01.5")
    assert(shown(TimestampNTZType, 0L) == "1970-01-01 00:00:00")
    assert(shown(DoubleType, -2.5d) == "-2.5")
    assert(shown(FloatType, 0.1f) == "0.1")
    assert(shown(DecimalType(5, 2), Decimal("1.50")) == "1.50")
    assert(shown(DecimalType(20, 3), Decimal("-0.001")) == "-0.001")
    assert(shown(StringType, UTF8String.fromString("aß")) == "aß")
    assert(shown(BinaryType, Array[Byte](97, -1)) == "[61 FF]")
    assert(shown(TimeType(6), 3600L * 1000000000L) == "01:00:00")
    assert(OrderedValue.display(LongType, null) == "null")
  }
}
