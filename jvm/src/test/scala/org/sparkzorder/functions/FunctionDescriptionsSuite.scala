package org.sparkzorder.functions

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, CreateArray, Expression, Literal, Rand}
import org.apache.spark.sql.catalyst.util.{GenericArrayData, TypeUtils}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen

import org.sparkzorder.PropertySuite
import org.sparkzorder.layout.HilbertCurve
import org.sparkzorder.stats.RandomValues

/** How the functions are described and called, and what `hilbert_value`, `range_id` and `ordered_bytes` give. */
class FunctionDescriptionsSuite extends PropertySuite(10) {
  private def build(name: String)(children: Expression*): Expression =
    FunctionDescriptions.all.collectFirst { case (id, _, builder) if id.funcName == name => builder(children) }.get

  private def hex(e: Expression): String = e.eval().asInstanceOf[Array[Byte]].map(b => f"$b%02X").mkString

  test("each function has a name and a description with an example") {
    assert(FunctionDescriptions.all.map(_._1.funcName) ==
      Seq("interleave_bits", "ordered_bytes", "zvalue", "hilbert_value", "range_id"))
    FunctionDescriptions.all.foreach { case (id, info, _) =>
      assert(info.getName == id.funcName)
      assert(info.getUsage.startsWith(s"${id.funcName}(") && info.getExamples.contains(s"${id.funcName}("))
    }
  }

  test("zvalue interleaves ordered bytes, and null is the smallest value of its type") {
    def zvalue(columns: Expression*): Expression = build("zvalue")(columns: _*).asInstanceOf[ZValue].replacement
    assert(hex(zvalue(Literal(1.toByte), Literal(2.toByte))) == "C006")
    assert(hex(zvalue(Literal(null, ByteType), Literal(2.toByte))) == "4004")
    assert(hex(zvalue(Literal(null, StringType), Literal("a"))) == "61")
    assert(hex(zvalue(Literal(null), Literal("a"))) == "61")
    assert(!zvalue(Literal(null, LongType)).nullable)
    assert(build("zvalue")(Literal(1), Literal(2)).sql == "zvalue(1, 2)")
  }

  test("a value has as many ordered bytes as its type") {
    def of(dataType: DataType, value: Any): String = OrderedBytes.of(dataType, value).map(b => f"$b%02X").mkString
    assert(of(BooleanType, true) == "81" && of(ByteType, -1.toByte) == "7F" && of(ShortType, 1.toShort) == "8001")
    assert(of(IntegerType, 1) == "80000001" && of(DateType, -1) == "7FFFFFFF")
    assert(of(LongType, 0L) == "8000000000000000" && of(TimestampType, -1L) == "7FFFFFFFFFFFFFFF")
    assert(of(FloatType, -0.0f) == "80000000" && of(FloatType, 1f) == "BF800000")
    assert(of(DoubleType, -1.5d) == "4007FFFFFFFFFFFF")
    assert(of(DecimalType(4, 2), Decimal("1.50")) == "8000000000000096")
    assert(of(DecimalType(20, 0), Decimal("-1")) == "7" + "F" * 31)
    assert(of(StringType, UTF8String.fromString("ab")) == "6162" && of(BinaryType, Array[Byte](0, -1)) == "00FF")
  }

  test("a wrong number of arguments is an error that names the function") {
    val wrong = Seq(build("ordered_bytes")(_: Expression), (e: Expression) => build("range_id")(e))
    assert(hex(wrong.head(Literal(true))) == "81")
    val e = intercept[AnalysisException](wrong.last(Literal(1)))
    assert(e.getCondition.startsWith("WRONG_NUM_ARGS") && e.getMessage.contains("range_id"))
    assert(intercept[AnalysisException](build("ordered_bytes")()).getMessage.contains("ordered_bytes"))
    Seq("zvalue", "interleave_bits").foreach { name =>
      val message = intercept[AnalysisException](build(name)()).getMessage
      assert(message.contains(s"The `$name` requires > 0 parameters but the actual number is 0."))
    }
    val hilbert = intercept[AnalysisException](build("hilbert_value")(Literal(1))).getMessage
    assert(hilbert.contains("requires > 1 parameters but the actual number is 1."))
  }

  test("a wrong argument is told in the words of Spark's functions") {
    def said(name: String, arguments: Expression*): String = build(name)(arguments: _*).checkInputDataTypes() match {
      case TypeCheckResult.TypeCheckFailure(message) => message
      case e: TypeCheckResult.DataTypeMismatch       =>
        val parameters = e.messageParameters + ("sqlExpr" -> "\"f\"")
        new AnalysisException(s"DATATYPE_MISMATCH.${e.errorSubClass}", parameters).getMessage
      case other => fail(s"$other")
    }
    val column = AttributeReference("c", IntegerType)()
    val array = AttributeReference("c", ArrayType(IntegerType))()
    val text = CreateArray(Seq(Literal("a")))
    def ints(values: Any*) = CreateArray(values.map(Literal.create(_, IntegerType)))
    val one = Literal(1L)
    assert(said("hilbert_value", Literal(64), one).contains("bits must be between [1, 63] (current value = \"64\")"))
    assert(said("hilbert_value", Literal(32), one, one).contains("must be between [1, 31]"))
    assert(said("hilbert_value", column, one).contains("the input \"bits\" should be a foldable \"INT\" expression"))
    assert(said("hilbert_value", Literal(null, IntegerType), one).contains("The bits must not be null"))
    assert(said("hilbert_value", Literal(1) +: Seq.fill(64)(one): _*) == "It takes at most 63 ids")
    assert(said("range_id", Literal(1), ints(2, 1)) == "The bounds must be in ascending order and must not be null")
    assert(said("range_id", Literal(1), ints(1, null)).contains("must not be null"))
    assert(said("range_id", Literal(1), array).contains("the input \"bounds\" should be a foldable \"ARRAY<INT>\""))
    assert(said("range_id", column, text).contains("The second parameter requires the \"ARRAY<INT>\" type, however"))
    Seq(said("ordered_bytes", array), said("range_id", array, array)).foreach { message =>
      assert(message.contains("The first parameter requires the (\"NUMERIC\" or \"STRING\" or"))
      assert(message.contains("however \"c\" has the type \"ARRAY<INT>\""))
    }
  }

  private def hilbert(bits: Int, columns: Int): Expression =
    HilbertValue(Literal(bits) +: (0 until columns).map(BothWays.input(_, LongType)))

  private val points = for {
    columns <- Gen.choose(1, 8)
    bits <- Gen.choose(1, HilbertValue.MaxBits / columns)
    ids <- Gen.listOfN(columns, Gen.choose(0L, (1L << bits) - 1))
  } yield (bits, ids)

  test("hilbert_value is the value of the curve, interpreted and by generated code") {
    forAll(points, minSuccessful(60)) { case (bits, ids) =>
      assert(BothWays(hilbert(bits, ids.length), ids: _*) == HilbertCurve.value(ids.toArray, bits))
    }
  }

  test("only the lowest bits of an id count, null gives null, and one column or so many that the code is split work") {
    assert(BothWays(hilbert(2, 2), 4L + 3, -4L) == BothWays(hilbert(2, 2), 3L, 0L))
    assert(BothWays(hilbert(4, 3), 1L, null, 2L) == null)
    assert(BothWays(hilbert(63, 1), Long.MaxValue) == Long.MaxValue)
    assert(BothWays(hilbert(1, 63), Seq.fill(63)(1L): _*).asInstanceOf[Long] > 0)
  }

  test("the number of bits of hilbert_value must be a constant that fits, and there must be an id") {
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

  private def bounds(elements: Seq[Any], dataType: DataType): Expression =
    Literal(new GenericArrayData(elements.toArray[Any]), ArrayType(dataType))

  test("range_id counts the smaller bounds, for every type, interpreted and by generated code") {
    forAll(minSuccessful(200)) { (seed: Long) =>
      val values = new RandomValues(seed)
      val dataType = values.atomicType()
      val order = TypeUtils.getInterpretedOrdering(dataType)
      val elements = Seq.fill(values.random.nextInt(8))(values.value(dataType)).sorted(order)
      val e = RangeId(BothWays.input(0, dataType), bounds(elements, dataType))
      Seq.fill(4)(values.value(dataType)).foreach { v =>
        assert(BothWays(e, v) == elements.count(order.lt(_, v)), s"$dataType: $v in $elements")
      }
      assert(BothWays(e, null) == 0)
    }
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

  private def bytes(dataType: DataType, value: Any): Array[Byte] = OrderedBytes.of(dataType, value)

  test("the unsigned order of ordered_bytes is Spark's order, for every type") {
    forAll(minSuccessful(2000)) { (seed: Long) =>
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

  test("types without an order are refused") {
    RandomValues.withoutOrder.foreach { dataType =>
      assert(OrderedBytes(Literal(null, dataType)).checkInputDataTypes().isFailure, dataType)
    }
  }
}
