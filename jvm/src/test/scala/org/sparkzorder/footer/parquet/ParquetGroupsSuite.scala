package org.sparkzorder.footer.parquet

import org.apache.parquet.schema.MessageTypeParser
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

class ParquetGroupsSuite extends AnyFunSuite {

  private def chunk(values: Long, nulls: Long) = ParquetChunk(values, rows = 4, Some(nulls).filter(_ >= 0), None)

  /** The nulls of `g`, with the same chunks in each row group; in order of the leaves. */
  private def nulls(field: String, rowGroups: Seq[ParquetChunk]*): Option[Long] = {
    val message = MessageTypeParser.parseMessageType(s"message m { $field }")
    val leaves = message.getPaths.toArray(Array.empty[Array[String]]).map(_.toSeq)
    ParquetGroups.nulls(
      message.getFields.get(0).asGroupType,
      Seq("g"),
      required = false,
      rowGroups.map(chunks => leaves.zip(chunks).toMap.get _)
    )
  }

  test("a struct with a required field is null where the field is") {
    def of(rowGroups: Seq[ParquetChunk]*) =
      nulls("optional group g { required int32 a; optional int32 b; }", rowGroups: _*)
    assert(of(Seq(chunk(4, 3), chunk(4, 4))).contains(3L))
    assert(of(Seq(chunk(4, 3), chunk(4, 4)), Seq(chunk(4, 1), chunk(4, 2))).contains(4L))
    assert(of(Seq(chunk(4, -1), chunk(4, 2))).isEmpty && of(Seq(chunk(4, 5), chunk(4, 2))).isEmpty)
  }

  test("optional fields tell of a struct only when one of them is never null") {
    val struct = "optional group g { optional int32 a; optional group h { required int32 b; } }"
    def of(rowGroups: Seq[ParquetChunk]*) = nulls(struct, rowGroups: _*)
    assert(of(Seq(chunk(4, 3), chunk(4, 0))).contains(0L) && of(Seq(chunk(4, 3), chunk(4, 1))).isEmpty)
    assert(of(Seq(chunk(4, 0), chunk(4, 1)), Seq(chunk(4, 1), chunk(4, 1))).isEmpty)
    assert(of(Seq(chunk(4, 0), chunk(4, 1)), Seq(chunk(4, 1), chunk(4, 0))).contains(0L))
  }

  test("a list without any null entry is never null") {
    val list = "optional group g (LIST) { repeated group list { required int32 element; } }"
    assert(nulls(list, Seq(chunk(9, 0))).contains(0L))
    // An entry without value may be a null list or an empty one.
    for (entries <- Seq(chunk(9, 1), chunk(4, 4), chunk(3, 0)))
      assert(nulls(list, Seq(entries)).isEmpty)
  }

  test("both types must have the same fields") {
    def same(table: String, file: String) =
      ParquetGroups.isSame(StructType.fromDDL(table), StructType.fromDDL(file))
    assert(same("s struct<x: bigint, y: array<double>>", "s struct<x: int, y: array<float>>"))
    assert(!same("s struct<x: bigint, y: int>", "s struct<x: bigint>"))
    assert(!same("s struct<x: bigint>", "s struct<X: bigint>"))
    assert(!same("a array<struct<x: int>>", "a array<struct<x: int, y: int>>"))
    assert(!same("m map<int, int>", "m array<int>") && !same("m int", "m array<int>"))
  }
}
