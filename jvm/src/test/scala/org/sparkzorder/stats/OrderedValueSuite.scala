package org.sparkzorder.stats

import java.lang.{Long => JLong}

import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.PropertySuite

class OrderedValueSuite extends PropertySuite(3000) {
  private def compare(a: Any, b: Any): Int = ((a, b): @unchecked) match {
    case (x: JLong, y: JLong)             => x.compareTo(y)
    case (x: Array[Byte], y: Array[Byte]) => OrderedValue.compare(x, y)
  }

  test("the order of encoded values is Spark's order, and decode returns the value that was encoded") {
    forAll { (seed: Long) =>
      val values = new RandomValues(seed)
      val dt = values.atomicType()
      val order = TypeUtils.getInterpretedOrdering(dt)
      val (x, y) = (values.value(dt), values.value(dt))
      val (a, b) = (OrderedValue.encode(dt, x), OrderedValue.encode(dt, y))
      assert(compare(a, b).sign == order.compare(x, y).sign, s"$dt: $x, $y")
      val back = OrderedValue.decode(dt, a)
      assert(order.compare(x, back) == 0, s"$dt: $x, $back")
      assert(OrderedValue.display(dt, a) != null)
    }
  }

  test("types without an order of bytes have no encoding, and decimals are encoded at the type's scale") {
    (RandomValues.withoutOrder ++ Seq(NullType, StringType("UTF8_LCASE"), StringType("UNICODE"))).foreach { dt =>
      assert(OrderedValue.encoding(dt).isEmpty, dt)
    }
    for (dt <- Seq(CharType(3), VarcharType(3), DecimalType(19, 2)))
      assert(OrderedValue.encoding(dt).contains(Encoding.Bytes), dt)
    for (dt <- Seq(DecimalType(18, 2), TimeType(6))) assert(OrderedValue.encoding(dt).contains(Encoding.Longs), dt)
    for (text <- Seq("1.5", "1.5000")) assert(OrderedValue.encode(DecimalType(5, 2), Decimal(text)) == 150L)
    for (text <- Seq("1.555", "1000"))
      intercept[IllegalArgumentException](OrderedValue.encode(DecimalType(5, 2), Decimal(text)))
    for (value <- Seq[Any](null, 1L)) intercept[IllegalArgumentException](OrderedValue.encode(IntegerType, value))
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
