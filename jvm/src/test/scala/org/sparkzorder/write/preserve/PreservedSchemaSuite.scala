package org.sparkzorder.write.preserve

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.orc.TypeDescription
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.Encoding._
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.io.api.{Binary, RecordConsumer}
import org.apache.parquet.schema.{MessageType, MessageTypeParser, Type, Types}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.write.encode.{BloomFilterSize, FloatDictionaries, MisleadingFilters}
import org.sparkzorder.write.orc.OrcFloats

/** What new files keep of the schemas of old ones, and what they may have of the settings. */
class PreservedSchemaSuite extends AnyFunSuite {

  /** Fields with `?` before their type are optional, those with `!` are required. */
  private def schema(fields: String): MessageType =
    MessageTypeParser.parseMessageType(s"message m { ${fields.replace("?", "optional ").replace("!", "required ")} }")

  private def is(spark: String, inputs: String*)(fields: String, lost: String*): Unit = {
    val result = PreservedSchema.of(schema(spark), inputs.map(schema))
    assert((result.schema.toString, result.lost) == ((schema(fields).toString, lost.toSeq)))
  }

  test("names, ids and required columns are kept where all files agree") {
    is("?int32 a;", "!int32 A = 3;")("!int32 A = 3;")
    is("?int32 a;", "!int32 A = 3;", "?int32 A = 3;")("?int32 A = 3;")
    is("?int32 a;", "!int32 A = 3;", "!int32 a = 4;")("!int32 a;", "spelling of the name of `a`", "field id of `a`")
    is("?int32 a; ?int32 b;", "!int32 a; !int32 b;", "!int32 a;")("!int32 a; ?int32 b;")
  }

  test("columns whose names differ only in case keep their names, whichever of them a file has") {
    val table = "?int32 Case; ?binary cASE (STRING);"
    is(table, table)(table)
    is(table, "?binary cASE (STRING); ?int32 Case;")(table)
    is(table, "!int32 Case;", "!binary cASE (STRING);")(table)
    is(table, "?binary cASE (STRING);")(table)
    is(table, "?int32 case;")(table)
    is(s"?group s { $table }", s"?group S { $table }")(s"?group S { $table }")
    assert(PreservedSchema.leaves(schema(table), schema(table)).isEmpty)
  }

  test("each of the table's fields finds its own field of a file, and no two find the same") {
    val names = Seq("a", "A", "b", "B", "c")
    val orders = names.toSet.subsets().map(_.toSeq).flatMap(_.permutations).toIndexedSeq
    orders.foreach { file =>
      names.toSet.subsets().map(_.toSeq).foreach { table =>
        val found = FileSpelling.find(table, file)(identity)
        assert(found.flatten.distinct == found.flatten, s"$table in $file")
        table.zip(found).foreach { case (wanted, one) =>
          assert(one.forall(_.equalsIgnoreCase(wanted)))
          if (file.contains(wanted)) assert(one.contains(wanted), s"$table in $file")
        }
      }
    }
  }

  test("columns of nulls only keep their type, unless a default or another file may give them values") {
    val nulls = "?int32 n (UNKNOWN);"
    is("?int32 n;", nulls)(nulls)
    is("?int32 n; ?int32 a;", s"$nulls ?int32 a;", "?int32 a;")("?int32 n; ?int32 a;", "stored type of `n`")
    is("?int32 n;", nulls, "?int32 n;")("?int32 n;", "stored type of `n`")
    // The executors get the type in a footer, and the writer of statistics compares its values.
    val conf = new Configuration(false)
    PreservedFooter(Some(schema(nulls)), Map.empty).put(conf)
    val sent = PreservedFooter.in(conf).schema.get
    assert(sent.toString == schema(nulls).toString)
    assert(!Statistics.createStats(sent.getType(0)).hasNonNullValue)
  }

  test("a value in a column of nulls only is an error") {
    assert(PreservedNode.root(schema("?int32 n;"), schema("?int32 n (UNKNOWN);")).isNeeded)
    val written = through("?int32 n;", "?int32 n (UNKNOWN);")(c =>
      value(c, "n")(assert(intercept[IllegalStateException](c.addInteger(1)).getMessage.contains("`n`")))
    )
    assert(written == Seq("n@0", "/n"))
  }

  private val micros = "?int64 t (TIMESTAMP(MICROS,true));"
  private val millis = "?int64 t (TIMESTAMP(MILLIS,true));"

  test("the finest unit wins, and the loss is reported") {
    is(micros, millis)(millis)
    is(micros, millis, micros)(micros, "timestamp unit (milliseconds → microseconds) of `t`")
    is("?int96 t;", "?int96 t;", millis)("?int96 t;", "timestamp unit (milliseconds → INT96) of `t`")
    is(micros, "?int64 t (TIMESTAMP(MILLIS,false));")(micros, "stored type of `t`")
  }

  test("types that Spark reads as the same type are kept, unless values would change or become unreadable") {
    is("?int32 a (INTEGER(16,true));", "?int32 a (INTEGER(8,false));")("?int32 a (INTEGER(8,false));")
    is("?int64 a;", "?int32 a (INTEGER(32,false));")("?int32 a (INTEGER(32,false));")
    is("?int32 a;", "?int32 a (INTEGER(32,true));", "?int32 a;")("?int32 a;")
    is("?binary a (STRING);", "?binary a (JSON);")("?binary a (JSON);")
    is("?binary a (STRING);", "?binary a (STRING);", "?binary a;")("?binary a (STRING);", "stored type of `a`")
    is("?binary a;", "?fixed_len_byte_array(4) a;")("?fixed_len_byte_array(4) a;")
    val decimal = "?fixed_len_byte_array(4) a (DECIMAL(9,2));"
    is("?int32 a (DECIMAL(9,2));", decimal)(decimal)
    is("?int64 a;", "?int32 a;")("?int64 a;", "stored type of `a`")
    is("?double a;", "?float a;")("?double a;", "stored type of `a`")
    is("?int32 a (DECIMAL(9,2));", "?int32 a (DECIMAL(7,2));")("?int32 a (DECIMAL(9,2));", "stored type of `a`")
    // Spark's vectorized reader fails for these types.
    is("?int64 a (DECIMAL(12,3));", "?binary a (DECIMAL(12,3));")("?int64 a (DECIMAL(12,3));", "stored type of `a`")
    val fixed = "?fixed_len_byte_array(4) a;"
    is(fixed, "?fixed_len_byte_array(5) a;")(fixed, "stored type of `a`")
  }

  test("the length of a type that should have none is ignored") {
    def of(length: Int) =
      new MessageType("m", Seq(DOUBLE, BOOLEAN).map(t => Types.optional(t).length(length).named(t.name): Type).asJava)
    Seq(Seq(8), Seq(0, 8), Seq(8, 1)).foreach { lengths =>
      assert(PreservedSchema.of(of(0), lengths.map(of)).lost.isEmpty, lengths)
    }
  }

  private val three = "?group l (LIST) { repeated group list { ?int32 element; } }"
  private val two = "?group l (LIST) { repeated int32 array; }"

  test("lists keep their shape where all files have the same shape") {
    is(three, two)(two)
    is(three, two, three)(three, "list encoding of `l`")
    val never = "?group l (LIST) { repeated group list { !int32 element; } }"
    Seq(Seq("repeated int32 l;"), Seq("repeated int32 l;", two), Seq(two, never)).foreach { files =>
      is(three, files: _*)(never, "list encoding of `l`")
    }
    val hive = "?group l (LIST) { repeated group bag { ?int32 array_element; } }"
    is(three, hive)(hive)
  }

  test("maps keep their inner names, and lists in them their shape") {
    def map(entries: String, key: String, list: String) =
      s"?group m (MAP) { repeated group $entries { !binary $key (STRING); $list } }"
    val spark = map("key_value", "key", three.replace(" l ", " value "))
    val old = map("map", "k", two.replace(" l ", " v "))
    is(spark, old)(old)
    is(spark, old, spark)(spark, "list encoding of `m`.`value`")
    is(spark, "?group m (LIST) { repeated int32 array; }")(spark, "type of `m`")
  }

  /** Records the calls that reach the file's own consumer. */
  private final class Calls extends RecordConsumer {
    val seen = new ArrayBuffer[String]
    def startMessage(): Unit = ()
    def endMessage(): Unit = ()
    def startField(name: String, index: Int): Unit = seen += s"$name@$index"
    def endField(name: String, index: Int): Unit = seen += s"/$name"
    def startGroup(): Unit = seen += "{"
    def endGroup(): Unit = seen += "}"
    def addInteger(value: Int): Unit = seen += s"i$value"
    def addLong(value: Long): Unit = seen += s"l$value"
    def addBoolean(value: Boolean): Unit = seen += value.toString
    def addBinary(value: Binary): Unit = seen += value.getBytes.map(b => f"$b%02x").mkString
    def addFloat(value: Float): Unit = seen += value.toString
    def addDouble(value: Double): Unit = seen += value.toString
  }

  private def through(spark: String, file: String)(records: RecordConsumer => Unit): Seq[String] = {
    val calls = new Calls
    val consumer = new PreservedConsumer(calls, PreservedNode.root(schema(spark), schema(file)))
    consumer.startMessage()
    records(consumer)
    consumer.endMessage()
    calls.seen.toSeq
  }

  private def value(consumer: RecordConsumer, name: String)(add: => Unit): Unit = {
    consumer.startField(name, 0)
    add
    consumer.endField(name, 0)
  }

  test("a value that the type of the files cannot hold is an error") {
    assert(through(micros, millis)(c => value(c, "t")(c.addLong(-5000))) == Seq("t@0", "l-5", "/t"))
    intercept[IllegalStateException](through(micros, millis)(c => value(c, "t")(c.addLong(-5001))))
    val unsigned = "?int32 t (INTEGER(32,false));"
    assert(through("?int64 t;", unsigned)(c => value(c, "t")(c.addLong(4294967295L))) == Seq("t@0", "i-1", "/t"))
    Seq(-1L, 4294967296L).foreach { n =>
      intercept[IllegalStateException](through("?int64 t;", unsigned)(c => value(c, "t")(c.addLong(n))))
    }
    val bytes = through("?int32 t (DECIMAL(5,2));", "?fixed_len_byte_array(3) t (DECIMAL(5,2));")(c =>
      value(c, "t")(c.addInteger(-2))
    )
    assert(bytes == Seq("t@0", "fffffe", "/t"))
  }

  /** A list that Spark wrote in three levels, by the file's two. */
  private def ofList(elements: Option[Int]*): Seq[String] = through(three, two)(c =>
    value(c, "l") {
      c.startGroup()
      value(c, "list")(elements.foreach { element =>
        c.startGroup()
        element.foreach(i => value(c, "element")(c.addInteger(i)))
        c.endGroup()
      })
      c.endGroup()
    }
  )

  test("lists are written without Spark's group around each entry, and a null is an error where the files have none") {
    assert(ofList(Some(1), Some(2)) == Seq("l@0", "{", "array@0", "i1", "i2", "/array", "}", "/l"))
    intercept[IllegalStateException](ofList(None))
    intercept[IllegalStateException](through("?int32 a;", "!int32 a;")(_ => ()))
  }

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
