package org.sparkzorder.stats

import java.util.BitSet

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class ColumnDefaultsSuite extends AnyFunSuite {

  private val default = new MetadataBuilder().putString(ColumnDefaults.Key, "5").build()

  private val schema = new StructType()
    .add("plain", IntegerType)
    .add("five", IntegerType, nullable = true, default)
    .add("s", new StructType().add("x", IntegerType).add("y", IntegerType, nullable = true, default))
    .add("a", ArrayType(new StructType().add("y", IntegerType, nullable = true, default)))

  test("a column has a default if it, a struct above it or a field in it has one") {
    def concern(path: String*) = new ColumnDefaults(schema).concern(path)
    assert(!concern("plain") && !concern("s", "x") && !concern("none"))
    assert(concern("five") && concern("s", "y") && concern("s") && concern("a"))
  }

  test("with a default, files with only nulls are unknown, and the others are as before") {
    val bounded = new BitSet
    bounded.set(1)
    bounded.set(2)
    val stats = new LongStatsColumn(Array(0, 3, 4), Array(0, 9, 4), bounded, Array(10, 2, 0), Array(0, 0, 0))
    val table = new StatsTable {
      def files = 3
      def rows = Array(10, 10, 10)
      def column(path: Seq[String], dataType: DataType): Option[StatsColumn] = Some(stats)
    }
    val seen = StatsWithDefaults.of(table, schema)
    assert(seen.column(Seq("plain"), IntegerType).contains(stats))
    val five = seen.column(Seq("five"), IntegerType).get
    assert(five.nullCounts.toSeq == Seq(-1L, 2L, 0L) && five.nanCounts.toSeq == Seq(-1L, 0L, 0L))
    assert(five.bounded == bounded)
    assert(StatsWithDefaults.of(table, StructType(schema.take(1))) eq table)
  }
}
