package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.types._
import org.scalacheck.Gen

import org.sparkzorder.{InRest, PropertySuite}
import org.sparkzorder.stats.RandomValues

class InterleaveBitsSuite extends PropertySuite(1000) {
  private def bytes(hex: String): Array[Byte] = hex.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray
  private def hex(bytes: Array[Byte]): String = bytes.map(b => f"$b%02x").mkString
  private def interleave(inputs: String*): String = hex(InterleaveBits.interleave(inputs.map(bytes).toArray))

  test("the source documents' example") {
    assert(interleave("d6", "61") == "b629")
  }

  test("known vectors") {
    assert(interleave("000ff0ff", "fff00f00") == "555555aaaa55aaaa")
    assert(interleave("0000ff00", "000000ff", "00000000") == "000000000000924924492492")
    assert(interleave("ffffffff", "00000000") == "aaaaaaaaaaaaaaaa")
    assert(interleave("00000000", "ffffffff") == "5555555555555555")
    val nine = Seq.tabulate(9)(i => Seq("0000ff00", "000000ff", "00000000")(i % 3))
    assert(interleave(nine: _*) == "000000000000000000000000000000000000924924924924924924492492492492492492")
    assert(interleave(Seq.fill(4)("00000001"): _*) == "0000000000000000000000000000000f")
    assert(interleave("12345678") == "12345678")
    assert(interleave() == "")
  }

  test("an input without bits left drops out of the turns") {
    assert(interleave("ff", "0000") == "aaaa00")
    assert(interleave("", "6a") == "6a")
    assert(interleave("00", "ffffff", "0000") == "492492" + "aaaa" + "ff")
  }

  private val input = Gen.choose(0, 5).flatMap(Gen.listOfN(_, Gen.choose(-128, 127))).map(_.map(_.toByte).toArray)

  test("it is the same as taking a bit of each input in turn, and a limited result is the first bytes of the whole") {
    forAll(Gen.listOf(input), Gen.choose(0, 40)) { (inputs, limit) =>
      def bits(in: Array[Byte]) = in.toSeq.flatMap(b => (7 to 0 by -1).map(i => (b >> i) & 1))
      val turns = inputs.map(bits)
      val rounds = (0 until turns.map(_.length).maxOption.getOrElse(0)).flatMap(r => turns.flatMap(_.lift(r)))
      val whole = InterleaveBits.interleave(inputs.toArray)
      assert(bits(whole) == rounds)
      assert(InterleaveBits.interleave(inputs.toArray, limit).toSeq == whole.take(limit).toSeq)
    }
  }

  test("interpreted and generated code agree") {
    forAll(Gen.listOf(Gen.option(input)), minSuccessful(20)) { inputs =>
      val found = BothWays(InterleaveBits(inputs.indices.map(BothWays.input(_, BinaryType))), inputs.map(_.orNull): _*)
      val expected = Option.when(inputs.forall(_.isDefined))(InterleaveBits.interleave(inputs.flatten.toArray).toSeq)
      assert(Option(found).map(BothWays.shown) == expected)
    }
  }

  test("it works for so many inputs that the generated code is split") {
    val e = InterleaveBits((0 until 300).map(BothWays.input(_, BinaryType)))
    val inputs = Seq.fill[Any](300)(Array(0xf0.toByte))
    assert(BothWays.shown(BothWays(e, inputs: _*)) == Seq.fill(150)(-1.toByte) ++ Seq.fill(150)(0.toByte))
    assert(BothWays(e, inputs.updated(299, null): _*) == null)
    val numbers = new ZValue((0 until 300).map(BothWays.input(_, LongType))).replacement
    assert(BothWays(numbers, Seq.tabulate[Any](300)(i => if (i % 7 == 0) null else i.toLong): _*) != null)
  }

  test("other types than binary are refused") {
    assert(InterleaveBits(Seq(Literal(1, IntegerType))).checkInputDataTypes().isFailure)
    assert(InterleaveBits(Seq(Literal(Array[Byte](1)))).checkInputDataTypes().isSuccess)
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
