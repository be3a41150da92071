package org.sparkzorder.functions

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.sparkzorder.stats.RandomValues

class NumberInterleaverSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("a limited result is the first bytes of the whole") {
    val input = Gen.listOf(Gen.choose(-128, 127).map(_.toByte)).map(_.take(6).toArray)
    forAll(Gen.listOf(input), Gen.choose(0, 40)) { (inputs: List[Array[Byte]], limit: Int) =>
      val whole = InterleaveBits.interleave(inputs.toArray)
      assert(InterleaveBits.interleave(inputs.toArray, limit).toSeq == whole.take(limit).toSeq)
    }
  }

  private def randomTypes(values: RandomValues, only: DataType => Boolean): Seq[DataType] =
    Iterator.continually(values.atomicType()).filter(only).take(1 + values.random.nextInt(10)).toSeq

  private def agree(seed: Long, only: DataType => Boolean)(expression: Seq[Expression] => Expression): Unit = {
    val values = new RandomValues(seed)
    val types = randomTypes(values, only)
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

  test("so many numbers that the generated code is split") {
    val e = new ZValue((0 until 300).map(BothWays.input(_, LongType))).replacement
    assert(BothWays(e, Seq.tabulate[Any](300)(i => if (i % 7 == 0) null else i.toLong): _*) != null)
  }
}
