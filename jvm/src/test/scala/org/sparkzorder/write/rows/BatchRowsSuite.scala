package org.sparkzorder.write.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.stats.RandomValues
import org.sparkzorder.write.Batches.batchOf

/** Rows that are made column by column, beside those of Spark's projection: all bytes are the same. */
class BatchRowsSuite extends AnyFunSuite {

  test("rows of all types are those of Spark, byte by byte") {
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
    val nested = Seq(ArrayType(IntegerType), new StructType().add("a", StringType), MapType(StringType, LongType))
    for (t <- nested ++ Seq(CalendarIntervalType, TimeType(6)))
      assert(!BatchRows.canMake(new StructType().add("a", IntegerType).add("b", t)), t)
    assert(!BatchRows.canMake(new StructType))
  }
}
