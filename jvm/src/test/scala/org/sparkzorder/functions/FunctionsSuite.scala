package org.sparkzorder.functions

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateMutableProjection
import org.apache.spark.sql.catalyst.util.{GenericArrayData, TypeUtils}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen
import org.scalatest.Assertions

import org.sparkzorder.{InRest, PropertySuite}
import org.sparkzorder.layout.HilbertCurve
import org.sparkzorder.stats.RandomValues

/** How the functions are described and called, and what they give. The golden files have examples of each. */
class FunctionsSuite extends PropertySuite(10) {
  private def build(name: String)(children: Expression*): Expression =
    FunctionDescriptions.all.collectFirst { case (id, _, builder) if id.funcName == name => builder(children) }.get

  test("each function has a name and a description with an example") {
    assert(FunctionDescriptions.all.map(_._1.funcName) ==
      Seq("interleave_bits", "ordered_bytes", "zvalue", "hilbert_value", "range_id"))
    FunctionDescriptions.all.foreach { case (id, info, _) =>
      assert(info.getName == id.funcName)
      assert(info.getUsage.startsWith(s"${id.funcName}(") && info.getExamples.contains(s"${id.funcName}("))
    }
  }

  test("null is the smallest value of zvalue's types") {
    def zvalue(columns: Expression*): Expression = build("zvalue")(columns: _*).asInstanceOf[ZValue].replacement
    for (none <- Seq(Literal(null, StringType), Literal(null)))
      assert(BothWays.shown(zvalue(none, Literal("a")).eval()) == "a".getBytes.toSeq)
    assert(!zvalue(Literal(null, LongType)).nullable)
  }

  test("a wrong number of arguments is an error that names the function") {
    val one = Literal(1)
    val wrong = Seq(("ordered_bytes", Nil, "1"), ("range_id", Seq(one), "2"), ("zvalue", Nil, "> 0")) ++
      Seq(("interleave_bits", Nil, "> 0"), ("hilbert_value", Seq(one), "> 1"))
    for ((name, arguments, needed) <- wrong) {
      val message = intercept[AnalysisException](build(name)(arguments: _*)).getMessage
      assert(message.contains(s"The `$name` requires $needed parameters but the actual number is ${arguments.size}."))
    }
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
    assert(said("hilbert_value", Literal(-1), one).contains("must be between [1, 63]"))
    assert(said("hilbert_value", Literal(Int.MaxValue), one, one, one).contains("must be between [1, 21]"))
    assert(said("hilbert_value", column, one).contains("the input \"bits\" should be a foldable \"INT\" expression"))
    assert(said("hilbert_value", Literal(null, IntegerType), one).contains("The bits must not be null"))
    assert(said("hilbert_value", Literal(1) +: Seq.fill(64)(one): _*) == "It takes at most 63 ids")
    assert(HilbertValue(Seq(Literal(2), Rand(Literal(1)))).checkInputDataTypes().isFailure)
    assert(said("range_id", Literal(1), ints(2, 1)) == "The bounds must be in ascending order and must not be null")
    assert(said("range_id", Literal(1), ints(1, null)).contains("must not be null"))
    val noBounds = Literal(null, ArrayType(IntegerType))
    assert(said("range_id", Literal(1), noBounds).contains("The bounds must not be null"))
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

  test("interpreted and generated code of ordered_bytes agree on every type, and null gives null") {
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

  test("types without an order have no ordered_bytes") {
    RandomValues.withoutOrder.foreach { dataType =>
      assert(OrderedBytes(Literal(null, dataType)).checkInputDataTypes().isFailure, dataType)
    }
  }

  private val input = Gen.choose(0, 5).flatMap(Gen.listOfN(_, Gen.choose(-128, 127))).map(_.map(_.toByte).toArray)

  test("interleave_bits takes a bit of each input in turn, and a limited result is the first bytes of the whole") {
    forAll(Gen.listOf(input), Gen.choose(0, 40), minSuccessful(1000)) { (inputs, limit) =>
      def bits(in: Array[Byte]) = in.toSeq.flatMap(b => (7 to 0 by -1).map(i => (b >> i) & 1))
      val turns = inputs.map(bits)
      val rounds = (0 until turns.map(_.length).maxOption.getOrElse(0)).flatMap(r => turns.flatMap(_.lift(r)))
      val whole = InterleaveBits.interleave(inputs.toArray)
      assert(bits(whole) == rounds)
      assert(InterleaveBits.interleave(inputs.toArray, limit).toSeq == whole.take(limit).toSeq)
    }
  }

  test("interpreted and generated code of interleave_bits agree") {
    forAll(Gen.listOf(Gen.option(input)), minSuccessful(20)) { inputs =>
      val found = BothWays(InterleaveBits(inputs.indices.map(BothWays.input(_, BinaryType))), inputs.map(_.orNull): _*)
      val expected = Option.when(inputs.forall(_.isDefined))(InterleaveBits.interleave(inputs.flatten.toArray).toSeq)
      assert(Option(found).map(BothWays.shown) == expected)
    }
  }

  test("interleave_bits and zvalue work for so many inputs that the generated code is split") {
    val e = InterleaveBits((0 until 300).map(BothWays.input(_, BinaryType)))
    val inputs = Seq.fill[Any](300)(Array(0xf0.toByte))
    assert(BothWays.shown(BothWays(e, inputs: _*)) == Seq.fill(150)(-1.toByte) ++ Seq.fill(150)(0.toByte))
    assert(BothWays(e, inputs.updated(299, null): _*) == null)
    val numbers = new ZValue((0 until 300).map(BothWays.input(_, LongType))).replacement
    assert(BothWays(numbers, Seq.tabulate[Any](300)(i => if (i % 7 == 0) null else i.toLong): _*) != null)
  }

  private def agree(seed: Long, only: DataType => Boolean)(expression: Seq[Expression] => Expression): Unit = {
    val values = new RandomValues(seed)
    val types = Iterator.continually(values.atomicType()).filter(only).take(1 + values.random.nextInt(10)).toSeq
    val e = expression(types.zipWithIndex.map { case (t, i) => BothWays.input(i, t) })
    def row() = types.map(t => if (values.random.nextInt(5) == 0) null else values.value(t))
    (1 to 4).foreach(_ => BothWays(e, row(): _*))
  }

  private def isFixed(t: DataType): Boolean = FixedInput.of(OrderedBytes(BothWays.input(0, t))).isDefined

  test("zvalue is the same by bytes and by numbers, for all mixtures of types, with nulls", InRest) {
    forAll(minSuccessful(300))((seed: Long) => agree(seed, _ => true)(c => new ZValue(c).replacement))
    forAll(minSuccessful(300))((seed: Long) => agree(seed, isFixed)(c => new ZValue(c).replacement))
  }

  test("interleave_bits of ordered_bytes of numbers is null if one of them is null", InRest) {
    forAll(minSuccessful(300))((seed: Long) => agree(seed, isFixed)(c => InterleaveBits(c.map(OrderedBytes(_)))))
    val e = InterleaveBits(Seq(OrderedBytes(BothWays.input(0, LongType)), OrderedBytes(BothWays.input(1, IntegerType))))
    assert(BothWays(e, null, 1) == null && BothWays(e, 1L, null) == null && BothWays(e, 1L, 1) != null)
  }

  test("a few numbers of one width, for which the generated code has no loop, and one more than that") {
    val types = Seq(BooleanType, ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType, DateType)
    for (t <- types; n <- 1 to 9) {
      val values = new RandomValues(n.toLong)
      val columns = (0 until n).map(BothWays.input(_, t))
      val made = Seq(new ZValue(columns).replacement, InterleaveBits(columns.map(OrderedBytes(_))))
      for (nulls <- Seq(false, true); _ <- 1 to 5; e <- made)
        BothWays(e, columns.map(_ => if (nulls && values.random.nextInt(2) == 0) null else values.value(t)): _*)
    }
  }

  test("no bytes are made for each row of numbers, dates and times, but for decimals and strings") {
    Seq(BooleanType, ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType, DateType, TimestampType)
      .foreach(t => assert(isFixed(t), t))
    Seq(StringType, BinaryType, DecimalType(9, 2), DecimalType(38, 2)).foreach(t => assert(!isFixed(t), t))
  }
}

/** Evaluates an expression interpreted and by generated code. Both must give the same. */
private object BothWays extends Assertions {
  def input(ordinal: Int, dataType: DataType): Expression = BoundReference(ordinal, dataType, nullable = true)

  def apply(e: Expression, values: Any*): Any = {
    assert(e.checkInputDataTypes().isSuccess, e)
    val row = InternalRow.fromSeq(values)
    val interpreted = e.eval(row)
    val generated = GenerateMutableProjection.generate(Seq(e)).apply(row).get(0, e.dataType)
    assert(shown(interpreted) == shown(generated), s"$e of $values")
    interpreted
  }

  /** A form in which byte arrays are compared by their bytes. */
  def shown(value: Any): Any = value match {
    case bytes: Array[Byte] => bytes.toSeq
    case other              => other
  }
}
