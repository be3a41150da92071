package org.sparkzorder.write.encode

import org.apache.hadoop.conf.Configuration
import org.apache.orc.TypeDescription
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.Encoding._
import org.apache.parquet.schema.{MessageType, MessageTypeParser, Types}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.write.orc.OrcFloats
import org.sparkzorder.write.preserve.{KnownEncodings, PreservedParquet}

class WriterLimitsSuite extends AnyFunSuite {

  private def set(change: Configuration => Unit)(settings: (String, Any)*): Configuration = {
    val conf = new Configuration(false)
    settings.foreach { case (key, value) => conf.set(key, value.toString) }
    change(conf)
    conf
  }

  test("a Bloom filter is not larger than its row group") {
    def most(settings: (String, Any)*) = set(BloomFilterSize.limit)(settings: _*).get("parquet.bloom.filter.max.bytes")
    assert(most() == null)
    assert(most("parquet.block.size" -> (128 << 20)) == null)
    assert(most("parquet.block.size" -> 9000) == "8192")
    assert(most("parquet.block.size" -> 10) == "1024")
    assert(most("parquet.block.size" -> 9000, "parquet.bloom.filter.max.bytes" -> 4096) == "4096")
    assert(most("parquet.block.size" -> (64 << 10), "parquet.bloom.filter.max.bytes" -> (1 << 20)) == "65536")
  }

  test("pages have version 2 if they are compressed and an old file has each encoding that comes with them") {
    val all = Set(INT32 -> DELTA_BINARY_PACKED, INT64 -> DELTA_BINARY_PACKED, BINARY -> DELTA_BYTE_ARRAY) +
      (FIXED_LEN_BYTE_ARRAY -> DELTA_BYTE_ARRAY)
    val key = "parquet.writer.version"
    def version(schema: Option[String], had: Set[(PrimitiveTypeName, Encoding)], codec: String = "ZSTD"): String =
      set(keepTo(schema, had))("parquet.compression" -> codec, key -> "PARQUET_2_0").get(key)
    val numbers = Some("required int32 a; required boolean b; optional group s { required double d; }")
    val fixed = numbers.map(_ + " optional group l { repeated fixed_len_byte_array(3) f; }")
    assert(version(numbers, all) == "PARQUET_2_0")
    assert(version(numbers, all, "UNCOMPRESSED") == "v1")
    assert(version(numbers, Set(INT32 -> DELTA_BINARY_PACKED)) == "PARQUET_2_0")
    assert(version(numbers, Set(INT64 -> DELTA_BINARY_PACKED)) == "v1")
    assert(version(fixed, all) == "PARQUET_2_0")
    assert(version(fixed, all - (FIXED_LEN_BYTE_ARRAY -> DELTA_BYTE_ARRAY)) == "v1")
    assert(version(None, all) == "PARQUET_2_0")
    assert(version(None, all - (INT64 -> DELTA_BINARY_PACKED)) == "v1")
    assert(set(KnownEncodings.keepTo(_, None))(key -> "v2").get(key) == "v1")
  }

  test("bytes are split only if old files have split bytes") {
    val key = "parquet.enable.bytestreamsplit"
    def isSplit(schema: String, had: (PrimitiveTypeName, Encoding)*): Boolean =
      set(keepTo(Some(schema), had.toSet))(key -> true).getBoolean(key, false)
    assert(isSplit("required double d;", DOUBLE -> BYTE_STREAM_SPLIT))
    assert(!isSplit("required double d;", FLOAT -> BYTE_STREAM_SPLIT))
    assert(!isSplit("required double d; required float f;", DOUBLE -> BYTE_STREAM_SPLIT))
  }

  test("no column of booleans or of floating-point numbers gets a Bloom filter, whatever the settings say") {
    val enabled = "parquet.bloom.filter.enabled"
    def filters(schema: String, settings: (String, Any)*): Configuration =
      set(MisleadingFilters.turnOff(_, MessageTypeParser.parseMessageType(s"message m { $schema }")))(settings: _*)
    val (fields, number) =
      ("required int32 a; optional group s { required boolean b; }", "parquet.bloom.filter.expected.ndv#s.b")
    val nested = filters(fields, enabled -> true, s"$enabled#s.b" -> true, number -> 2)
    assert(nested.getBoolean(enabled, false) && !nested.getBoolean(s"$enabled#s.b", true))
    assert(nested.get(number) == null)
    Seq("float", "double").foreach(t => assert(!filters(s"required $t b;").getBoolean(s"$enabled#b", true), t))
    val dotted = filters("required boolean a.b;", enabled -> true, s"$enabled#c" -> true)
    assert(!dotted.getBoolean(enabled, true) && dotted.getBoolean(s"$enabled#c", false))
    // Hadoop cuts off the blank of a key, so the setting would be that of another column.
    val blank = new MessageType("m", Types.required(BOOLEAN).named("b "), Types.required(INT32).named("b"))
    val ofBlank = set(MisleadingFilters.turnOff(_, blank))(enabled -> true)
    assert(!ofBlank.getBoolean(enabled, true) && ofBlank.get(s"$enabled#b") == null)
    // A blank in front of the name is within the key.
    val before = new MessageType("m", Types.required(BOOLEAN).named(" b"))
    val inFront = set(MisleadingFilters.turnOff(_, before))(enabled -> true, s"$enabled# b" -> true)
    assert(inFront.getBoolean(enabled, false) && !inFront.getBoolean(s"$enabled# b", true))
  }

  test("parquet-java makes no dictionary of floating-point numbers, and what the settings said is known") {
    val key = "parquet.enable.dictionary"
    def taken(schema: String, settings: (String, Any)*): (Configuration, Set[String]) = {
      val conf = set(_ => ())(settings: _*)
      val file = MessageTypeParser.parseMessageType(s"message m { $schema }")
      (conf, FloatDictionaries.takeFrom(conf, file, Set.empty).columns.map(_.mkString("/")))
    }
    val schema = "required double d; required int32 i; optional group s { required float x; required binary y; }"
    val (named, on) = taken(schema, s"$key#d" -> false)
    assert(on == Set("i", "s/x", "s/y") && named.getBoolean(key, true))
    assert(Seq("d", "s.x").forall(c => !named.getBoolean(s"$key#$c", true)))
    val (dotted, all) = taken(s"$schema required double p.q;", s"$key#i" -> false)
    assert(all == Set("d", "s/x", "s/y", "p.q") && !dotted.getBoolean(key, true))
    assert(dotted.getBoolean(s"$key#s.y", false) && !dotted.getBoolean(s"$key#i", true))
  }

  test("an ORC column of floating-point numbers gets no Bloom filter, by any name") {
    val schema = TypeDescription.fromString("struct<d:double,i:int,s:struct<x:float,y:string>,a:array<int>>")
    def left(names: String) = set(OrcFloats.turnOffFilters(_, Some(schema)))("orc.bloom.filter.columns" -> names)
      .get("orc.bloom.filter.columns")
    assert(left("d, i ,s.x,s.y,a") == "i,s.y,a")
    assert(left("s") == null && left("*") == null)
  }

  private def keepTo(schema: Option[String], had: Set[(PrimitiveTypeName, Encoding)])(conf: Configuration): Unit = {
    val file = schema.map(fields => MessageTypeParser.parseMessageType(s"message m { $fields }"))
    val kept = PreservedParquet(file, Map.empty, Map.empty, namesInAnyCase = false, Set.empty, had)
    KnownEncodings.keepTo(conf, Some(kept))
  }
}
