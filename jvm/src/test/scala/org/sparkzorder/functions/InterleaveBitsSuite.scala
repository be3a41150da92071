package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateMutableProjection
import org.apache.spark.sql.types.{BinaryType, IntegerType}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class InterleaveBitsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  private def bytes(hex: String): Array[Byte] = hex.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray
  private def hex(bytes: Array[Byte]): String = bytes.map(b => f"$b%02x").mkString
  private def interleave(inputs: String*): String = hex(InterleaveBits.interleave(inputs.map(bytes).toArray))

  private def generated(e: Expression, row: InternalRow): Any =
    GenerateMutableProjection.generate(Seq(e)).apply(row).get(0, BinaryType)

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

  test("it is the same as taking a bit of each input in turn") {
    forAll(Gen.listOf(input)) { inputs =>
      def bits(in: Array[Byte]) = in.toSeq.flatMap(b => (7 to 0 by -1).map(i => (b >> i) & 1))
      val turns = inputs.map(bits)
      val rounds = (0 until turns.map(_.length).maxOption.getOrElse(0)).flatMap(r => turns.flatMap(_.lift(r)))
      assert(bits(InterleaveBits.interleave(inputs.toArray)) == rounds)
    }
  }

  test("interpreted and generated code agree") {
    forAll(Gen.listOf(Gen.option(input)), minSuccessful(20)) { inputs =>
      val row = InternalRow.fromSeq(inputs.map(_.orNull))
      val e = InterleaveBits(inputs.indices.map(BoundReference(_, BinaryType, nullable = true)))
      val expected = Option.when(inputs.forall(_.isDefined))(hex(InterleaveBits.interleave(inputs.flatten.toArray)))
      assert(Option(e.eval(row).asInstanceOf[Array[Byte]]).map(hex) == expected)
      assert(Option(generated(e, row).asInstanceOf[Array[Byte]]).map(hex) == expected)
    }
  }

  test("it works for so many inputs that the generated code is split") {
    val row = InternalRow.fromSeq(Seq.fill(300)(bytes("f0")))
    val e = InterleaveBits((0 until 300).map(BoundReference(_, BinaryType, nullable = true)))
    assert(hex(generated(e, row).asInstanceOf[Array[Byte]]) == "f" * 300 + "0" * 300)
    row.update(299, null)
    assert(generated(e, row) == null && e.eval(row) == null)
  }

  test("other types than binary are refused") {
    assert(InterleaveBits(Seq(Literal(1, IntegerType))).checkInputDataTypes().isFailure)
    assert(InterleaveBits(Seq(Literal(Array[Byte](1)))).checkInputDataTypes().isSuccess)
  }
}
