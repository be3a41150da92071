package org.sparkzorder.write.rows

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateMutableProjection
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET
import org.apache.spark.unsafe.types.UTF8String

import org.sparkzorder.{InRest, PropertySuite}
import org.sparkzorder.layout.BytesMapping
import org.sparkzorder.stats.RandomValues
import org.sparkzorder.stats.RandomValues.batchOf

/** Rows that are made column by column or were packed are those of Spark, byte by byte. Keys of bytes are in order. */
class RowBytesSuite extends PropertySuite(1000) {

  test("rows of all types are those of Spark") {
    val values = new RandomValues(8)
    val random = values.random
    (1 to 300).foreach { n =>
      // Spark makes rows with TIME.
      val schema = StructType(values.columns().filterNot(_.dataType.isInstanceOf[TimeType])).add("last", IntegerType)
      assert(BatchRows.canMake(schema))
      val made = BatchRows.of(schema)
      val project = UnsafeProjection.create(schema)
      Seq(0, 1, 255, 256, 257, random.nextInt(700)).take(if (n % 10 == 0) 6 else 2).foreach { size =>
        val rows = Seq.fill(size)(values.row(schema))
        val batch = batchOf(rows, schema, onHeap = random.nextBoolean())
        val ours = made.of(batch).map(_.asInstanceOf[UnsafeRow].getBytes.toSeq).toSeq
        assert(ours == rows.map(project(_).getBytes.toSeq), schema.catalogString)
        batch.close()
      }
    }
  }

  test("long rows are made a few at a time") {
    val schema = new StructType().add("a", IntegerType).add("b", BinaryType)
    val rows = (0 until 40).map(i => InternalRow(i, Array.fill(Seq(0, 10, 300000, 3000000)(i % 4))(i.toByte)))
    val batch = batchOf(rows, schema, onHeap = true)
    val project = UnsafeProjection.create(schema)
    val ours = BatchRows.of(schema).of(batch).map(_.asInstanceOf[UnsafeRow].hashCode).toSeq
    assert(ours == rows.map(project(_).hashCode))
    batch.close()
  }

  test("nested columns, calendar intervals and TIME are left to Spark") {
    for (t <- nested ++ Seq(CalendarIntervalType, TimeType(6)))
      assert(!BatchRows.canMake(new StructType().add("a", IntegerType).add("b", t)), t)
    assert(!BatchRows.canMake(new StructType))
  }

  private val nested: Seq[DataType] =
    Seq(ArrayType(IntegerType), ArrayType(StringType), ArrayType(new StructType().add("a", BinaryType))) ++
      Seq(new StructType().add("a", StringType).add("b", DecimalType(30, 2)), MapType(StringType, LongType))

  /** Checks that a row comes back, into memory that may have had another one, and says how long it was meanwhile. */
  private def packed(packing: RowCompaction, row: UnsafeRow, into: RowCompaction.Unpacked, start: Int = 0): Int = {
    val most = packing.mostBytes(row)
    val bytes = Array.fill(start + most)(77.toByte)
    val length = packing.pack(row, bytes, start)
    assert(length <= most)
    assert(bytes.slice(start + length - RowCompaction.Spare, start + length).forall(_ == 0))
    // Nothing behind it is read.
    val own = Arrays.copyOf(bytes, start + length)
    val back = packing.unpack(own, BYTE_ARRAY_OFFSET.toLong + start, length, into)
    assert(back.getBytes.toSeq == row.getBytes.toSeq)
    assert(back.numFields == row.numFields)
    length
  }

  test("packed rows of all types come back", InRest) {
    val values = new RandomValues(5)
    (1 to 400).foreach { _ =>
      val schema = values.columns(nested: _*)
      val packing = new RowCompaction(schema)
      val project = UnsafeProjection.create(schema)
      val into = packing.unpacked()
      (1 to 20).foreach(_ => packed(packing, project(values.row(schema)), into, values.random.nextInt(4) * 8))
    }
  }

  test("any words come back, also where a schema has other types") {
    val values = new RandomValues(6)
    val random = values.random
    (1 to 2000).foreach { _ =>
      val schema = values.columns(nested: _*)
      val packing = new RowCompaction(schema)
      val into = packing.unpacked()
      (1 to 2).foreach { _ =>
        val fields = schema.length
        val bytes = new Array[Byte](UnsafeRow.calculateBitSetWidthInBytes(fields) + 8 * (fields + random.nextInt(9)))
        random.nextBytes(bytes)
        if (random.nextBoolean()) bytes.indices.foreach(i => if (random.nextInt(3) > 0) bytes(i) = 0)
        val row = new UnsafeRow(fields)
        row.pointTo(bytes, bytes.length)
        packed(packing, row, into)
      }
    }
  }

  test("small numbers, nulls and texts take few bytes") {
    val schema = new StructType().add("a", LongType).add("b", LongType).add("c", StringType)
    val row = UnsafeProjection.create(schema)(InternalRow(3L, null, UTF8String.fromString("ab")))
    // The number of the words, five lengths, and 1 + 1 + 0 + 1 + 2 bytes.
    val packing = new RowCompaction(schema)
    assert(packed(packing, row, packing.unpacked()) == 4 + 3 + 5 + RowCompaction.Spare)
  }

  test("bytes that are no packed row are an error, or a row that the hash tells apart") {
    val values = new RandomValues(9)
    val random = values.random
    val schema = StructType((0 until 200).map(i => StructField(s"c$i", if (i % 9 == 0) StringType else LongType)))
    val packing = new RowCompaction(schema)
    val row = UnsafeProjection.create(schema)(values.row(schema))
    val bytes = new Array[Byte](packing.mostBytes(row))
    val length = packing.pack(row, bytes, 0)
    val outcomes = (1 to 3000).map { _ =>
      val own = Arrays.copyOf(bytes, length)
      own(random.nextInt(if (random.nextBoolean()) 4 else length)) = random.nextInt(256).toByte
      try packing.unpack(own, BYTE_ARRAY_OFFSET, length, packing.unpacked()).numFields
      catch { case _: IllegalStateException | _: ArrayIndexOutOfBoundsException => -1 }
    }
    assert(outcomes.toSet == Set(-1, 200))
  }

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
