package org.sparkzorder.write.rows

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateMutableProjection
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.functions.InterleaveBits
import org.sparkzorder.layout.BytesMapping
import org.sparkzorder.stats.RandomValues

class BytesKeySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  private def expression(types: Seq[DataType], mapping: BytesMapping) =
    BytesKey(types.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) }, mapping)

  private def key(types: Seq[DataType], values: Seq[Any], mapping: BytesMapping = BytesMapping.Default): Array[Byte] =
    expression(types, mapping).eval(InternalRow.fromSeq(values)).asInstanceOf[Array[Byte]]

  private def hex(bytes: Array[Byte]): String = bytes.map(b => f"$b%02x").mkString

  private def one(dataType: DataType, value: Any): String = hex(key(Seq(dataType), Seq(value)))

  test("bytes are Iceberg's where Iceberg's are in order") {
    assert(one(IntegerType, 1) == "8000000000000001" && one(ByteType, -1.toByte) == "7fffffffffffffff")
    assert(one(LongType, Long.MinValue) == "0" * 16 && one(DateType, -1) == "7fffffffffffffff")
    assert(one(DoubleType, Double.NegativeInfinity) == "000fffffffffffff" && one(DoubleType, -1d) == "400fffffffffffff")
    assert(one(DoubleType, 1d) == "bff0000000000000" && one(FloatType, 1f) == "bff0000000000000")
    assert(one(DoubleType, Double.NaN) == "fff8000000000000")
    assert(one(BooleanType, true) == "8100000000000000" && one(BooleanType, false) == "0" * 16)
    assert(one(StringType, UTF8String.fromString("abc")) == "6162630000000000")
    assert(one(BinaryType, Array.tabulate(9)(_.toByte)) == "0001020304050607")
  }

  test("bytes are in order where Iceberg's are not") {
    // Iceberg 1.0 to 1.11 mixes up adjacent doubles, takes all dates for null, and refuses decimals.
    for ((x, y) <- Seq(-921614.125 -> -921614.0625, -1.6001329423771755e213 -> -1.600132804916327e213))
      assert(one(DoubleType, x) < one(DoubleType, y))
    assert(one(DoubleType, -0.0d) == one(DoubleType, 0.0d))
    assert(one(DateType, 0) < one(DateType, 1))
    assert(one(DecimalType(4, 2), Decimal("-1.50")) < one(DecimalType(4, 2), Decimal("1.50")))
    assert(one(DecimalType(38, 0), Decimal("1")).length == 32)
    assert(Seq(BooleanType, LongType, StringType, TimestampType).forall(t => one(t, null) == "0" * 16))
  }

  test("the key is cut to a size") {
    def bytes(hex: String) = hex.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray
    def cut(limit: Int, inputs: String*) = hex(InterleaveBits.interleave(inputs.map(bytes).toArray, limit))
    assert(cut(6, "ffff", "ff", "", "ffffff") == "ff" * 6)
    assert(cut(9, "01ff000f", "0100ff", "01", "01") == "0000000faaaa55550f")
    assert(cut(3, "01ff000f", "0100ff", "01", "01") == "000000")
    assert(cut(1, "d6", "61") == "b6")
    val types = Seq(LongType, StringType)
    val values = Seq[Any](5L, UTF8String.fromString("abcdefghijk"))
    val whole = hex(key(types, values))
    assert(whole.length == 32 && hex(key(types, values, BytesMapping(8, 5))) == whole.take(10))
    assert(hex(key(types, values, BytesMapping(2, 100))).length == 20)
  }

  private def random(seed: Long): (Seq[DataType], RandomValues) = {
    val values = new RandomValues(seed)
    (Seq.fill(1 + (seed & 3).toInt)(values.atomicType()), values)
  }

  private def drawn(values: RandomValues, dataType: DataType, seed: Long): Any =
    if (seed % 7 == 0) null else values.value(dataType)

  test("where only one column changes, the key has Spark's order") {
    forAll { (seed: Long, size: Int) =>
      val (types, values) = random(seed)
      val mapping = BytesMapping(1 + (size & 15), 1 + (size >>> 4 & 63))
      val row = types.map(drawn(values, _, seed))
      for (c <- types.indices) {
        val other = row.updated(c, values.value(types(c)))
        val expected =
          if (row(c) == null) -1 else TypeUtils.getInterpretedOrdering(types(c)).compare(row(c), other(c)).sign
        val found = Arrays.compareUnsigned(key(types, row, mapping), key(types, other, mapping)).sign
        assert(found == 0 || found == expected, s"$types, column $c: $row, ${other(c)}")
      }
    }
  }

  test("the whole key of numbers is different for all values") {
    forAll { (seed: Long) =>
      val (types, values) = random(seed)
      val fixed = types.filterNot(t => t.isInstanceOf[StringType] || t == BinaryType)
      val (x, y) = (fixed.map(values.value(_)), fixed.map(values.value(_)))
      val equal = fixed.indices.forall(c => TypeUtils.getInterpretedOrdering(fixed(c)).compare(x(c), y(c)) == 0)
      assert(Arrays.equals(key(fixed, x), key(fixed, y)) == equal, s"$fixed: $x, $y")
    }
  }

  test("interpreted and generated code agree, row after row") {
    forAll(minSuccessful(60)) { (seed: Long) =>
      val (types, values) = random(seed)
      val e = expression(types, BytesMapping(5, 30))
      val projection = GenerateMutableProjection.generate(Seq(e))
      for (i <- 0 until 4) {
        val row = InternalRow.fromSeq(types.map(drawn(values, _, seed + i)))
        val expected = hex(e.eval(row).asInstanceOf[Array[Byte]])
        assert(hex(projection(row).getBinary(0)) == expected)
      }
    }
  }
}
