package org.sparkzorder.write.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.stats.RandomValues

class RowPackingSuite extends AnyFunSuite {

  private val nested: Seq[DataType] = Seq(
    ArrayType(IntegerType),
    ArrayType(StringType),
    new StructType().add("a", StringType).add("b", DecimalType(30, 2)),
    MapType(StringType, LongType),
    ArrayType(new StructType().add("a", BinaryType))
  )

  /** Checks that a row comes back, and says how long it was meanwhile. */
  private def packed(packing: RowPacking, row: UnsafeRow, start: Int = 0): Int = {
    val most = packing.mostBytes(row)
    val bytes = Array.fill(start + most)(77.toByte)
    val length = packing.pack(row, bytes, start)
    assert(length <= most)
    assert(bytes.slice(start + length - RowPacking.Spare, start + length).forall(_ == 0))
    // Nothing behind it is read.
    val own = java.util.Arrays.copyOf(bytes, start + length)
    val back = packing.unpack(own, BYTE_ARRAY_OFFSET.toLong + start, length, packing.unpacked())
    assert(back.getBytes.toSeq == row.getBytes.toSeq)
    assert(back.numFields == row.numFields)
    length
  }

  test("rows of all types come back byte by byte", InRest) {
    val values = new RandomValues(5)
    (1 to 400).foreach { _ =>
      val schema = values.columns(nested: _*)
      val packing = new RowPacking(schema)
      val project = UnsafeProjection.create(schema)
      (1 to 20).foreach(_ => packed(packing, project(values.row(schema)), values.random.nextInt(4) * 8))
    }
  }

  test("any words come back, also where a schema has other types") {
    val values = new RandomValues(6)
    val random = values.random
    (1 to 2000).foreach { _ =>
      val schema = values.columns(nested: _*)
      val bytes =
        new Array[Byte](UnsafeRow.calculateBitSetWidthInBytes(schema.length) + 8 * (schema.length + random.nextInt(9)))
      random.nextBytes(bytes)
      if (random.nextBoolean()) bytes.indices.foreach(i => if (random.nextInt(3) > 0) bytes(i) = 0)
      val row = new UnsafeRow(schema.length)
      row.pointTo(bytes, bytes.length)
      packed(new RowPacking(schema), row)
    }
  }

  test("small numbers, nulls and texts take few bytes") {
    val schema = new StructType().add("a", LongType).add("b", LongType).add("c", StringType)
    val row = UnsafeProjection.create(schema)(InternalRow(3L, null, UTF8String.fromString("ab")))
    // The number of the words, five lengths, and 1 + 1 + 0 + 1 + 2 bytes.
    assert(packed(new RowPacking(schema), row) == 4 + 3 + 5 + RowPacking.Spare)
  }

  test("one row after the other may be unpacked into the same memory") {
    val values = new RandomValues(7)
    val schema = new StructType().add("a", BinaryType).add("b", IntegerType)
    val packing = new RowPacking(schema)
    val into = packing.unpacked()
    val project = UnsafeProjection.create(schema)
    (1 to 500).foreach { _ =>
      val row = project(values.row(schema))
      val bytes = new Array[Byte](packing.mostBytes(row))
      val length = packing.pack(row, bytes, 0)
      assert(packing.unpack(bytes, BYTE_ARRAY_OFFSET, length, into) == row)
    }
  }

  test("bytes that are no packed row are an error, or a row that the hash tells apart") {
    val values = new RandomValues(9)
    val random = values.random
    val schema = StructType((0 until 200).map(i => StructField(s"c$i", if (i % 9 == 0) StringType else LongType)))
    val packing = new RowPacking(schema)
    val row = UnsafeProjection.create(schema)(values.row(schema))
    val bytes = new Array[Byte](packing.mostBytes(row))
    val length = packing.pack(row, bytes, 0)
    val outcomes = (1 to 3000).map { _ =>
      val own = java.util.Arrays.copyOf(bytes, length)
      own(random.nextInt(if (random.nextBoolean()) 4 else length)) = random.nextInt(256).toByte
      try packing.unpack(own, BYTE_ARRAY_OFFSET, length, packing.unpacked()).numFields
      catch { case _: IllegalStateException | _: ArrayIndexOutOfBoundsException => -1 }
    }
    assert(outcomes.toSet == Set(-1, 200))
  }
}
