package org.sparkzorder.footer.parquet

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class SparkRowTypesSuite extends AnyFunSuite {
  private val file = StructType.fromDDL("a boolean, b boolean, l array<boolean>, m map<int, struct<x: boolean>>, i int")
  private val noted = new StructType()
    .add("a", NullType)
    .add("b", BooleanType)
    .add("l", ArrayType(NullType))
    .add("m", MapType(IntegerType, new StructType().add("x", NullType)))
    .add("i", NullType)

  test("a noted VOID replaces nothing but a boolean, at any depth") {
    assert(SparkRowTypes.refine(file, noted.json).map(_.dataType.simpleString) ==
      Seq("void", "boolean", "array<void>", "map<int,struct<x:void>>", "int"))
  }

  test("a damaged note, or one about other columns, changes nothing") {
    val twice = new StructType().add("a", NullType).add("a", NullType)
    Seq("", "\"void\"", "{\"void\"", noted.json.take(200), twice.json, new StructType().add("A", NullType).json)
      .foreach(json => assert(SparkRowTypes.refine(file, json) == file, json))
  }

  test("a noted TIME replaces the file's type if it has fewer digits") {
    // Spark 4.0 does not have this type.
    def time(n: Int) = scala.util.Try(DataType.fromJson(s"\"time($n)\"")).toOption
    def refined(stored: DataType, note: DataType) =
      SparkRowTypes.refine(new StructType().add("t", stored), new StructType().add("t", note).json).head.dataType
    for { micros <- time(6); seconds <- time(0) } {
      assert(refined(micros, seconds) == seconds && refined(seconds, micros) == seconds)
      assert(refined(LongType, seconds) == LongType)
    }
  }
}
