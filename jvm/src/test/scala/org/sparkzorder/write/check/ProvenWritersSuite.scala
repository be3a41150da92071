package org.sparkzorder.write.check

import org.apache.parquet.schema.MessageTypeParser
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class ProvenWritersSuite extends AnyFunSuite {

  private def fields(text: String): Seq[String] =
    ProvenWriters.unprovenFields(MessageTypeParser.parseMessageType(s"message m { $text }"), Nil)

  test("types and shapes that Spark writes by default are proven") {
    val spark = StructType.fromDDL(
      "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h STRING, i BINARY, j DATE, " +
        "k TIMESTAMP, l TIMESTAMP_NTZ, m DECIMAL(9, 2), n DECIMAL(18, 0), o DECIMAL(19, 0), p DECIMAL(38, 38), " +
        "q ARRAY<STRUCT<x: MAP<STRING, ARRAY<DECIMAL(20, 3)>>>>, r MAP<STRUCT<y: DATE>, DOUBLE>"
    )
    assert(ProvenWriters.unprovenTypes(spark) == Nil)
    val conf = new org.apache.spark.sql.internal.SQLConf
    Seq("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS").foreach { instants =>
      conf.setConfString("spark.sql.parquet.outputTimestampType", instants)
      val written = new org.apache.spark.sql.execution.datasources.parquet.SparkToParquetSchemaConverter(conf)
      assert(ProvenWriters.unprovenFields(written.convert(spark), Nil) == Nil, instants)
    }
    assert(fields("required group s { required int32 i (INTEGER(8,true)); }") == Nil)
    assert(fields("optional group l (LIST) { repeated group bag { optional int32 array_element; } }") == Nil)
  }

  test("what is converted for the files is not proven, and neither is what nobody knows") {
    val unproven = Seq(
      "optional int32 f (INTEGER(8,false));",
      "optional int64 f (INTEGER(64,false));",
      "optional fixed_len_byte_array(3) f;",
      "optional fixed_len_byte_array(16) f (UUID);",
      "optional fixed_len_byte_array(4) f (DECIMAL(9,2));",
      "optional fixed_len_byte_array(16) f (DECIMAL(20,2));",
      "optional binary f (DECIMAL(20,2));",
      "optional int64 f (DECIMAL(9,2));",
      "optional int64 f (TIMESTAMP(NANOS,true));",
      "optional int64 f (TIME(MICROS,true));",
      "optional int32 f (TIME(MILLIS,true));",
      "optional binary f (JSON);",
      "optional binary f (ENUM);",
      "repeated int32 f;",
      "repeated group f { optional int32 x; }",
      "optional group f (LIST) { repeated int32 array; }",
      "optional group f (LIST) { repeated group array { optional int32 a; optional int32 b; } }",
      "optional group f (MAP) { repeated binary k; }"
    )
    unproven.foreach(text => assert(fields(s"optional int32 ok; $text") == Seq("`f`"), text))
    assert(fields("optional group s { optional group l (LIST) { repeated int32 array; } }") == Seq("`s`.`l`"))
    assert(
      fields(
        "optional group m (MAP) { repeated group key_value { required binary key; optional binary value (BSON); } }"
      )
        == Seq("`m`.`value`")
    )
    val types = StructType.fromDDL(
      "ok INT, v VARIANT, s STRUCT<x: ARRAY<INTERVAL DAY TO SECOND>>, m MAP<STRING, INTERVAL YEAR>"
    )
    assert(ProvenWriters.unprovenTypes(types) == Seq("`v`", "`s`", "`m`"))
  }

  test("settings that make the writer take other ways are not proven") {
    def settings(pairs: (String, String)*) = ProvenWriters.unprovenSettings(pairs.toMap)
    assert(settings() == Nil)
    assert(settings("parquet.writer.version" -> "v1", "parquet.compression" -> "zstd") == Nil)
    assert(settings("parquet.writer.version" -> "PARQUET_1_0", "parquet.enable.bytestreamsplit" -> "false") == Nil)
    assert(settings("parquet.writer.version" -> "v2").size == 1)
    assert(settings("parquet.writer.version" -> "PARQUET_2_0").size == 1)
    assert(settings("parquet.enable.bytestreamsplit" -> "true").size == 1)
    assert(settings("parquet.enable.bytestreamsplit#x" -> "true").size == 1)
    assert(settings("parquet.compression" -> "LZ4_RAW").size == 1)
    assert(settings("parquet.crypto.factory.class" -> "a.B").size == 1)
  }
}
