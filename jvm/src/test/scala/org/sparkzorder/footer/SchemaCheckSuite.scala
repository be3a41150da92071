package org.sparkzorder.footer

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class SchemaCheckSuite extends AnyFunSuite {
  private val loose = FooterSettings(caseSensitive = false, fieldIds = false)

  private def footer(schema: StructType, unreadable: Seq[Unreadable] = Nil, format: DataFormat = DataFormat.Parquet) =
    FileFooter("/t/f", format, 1, schema, unreadable, None, None, Map(), Map(), Set(), Set(), Map(), positional = false)

  private def drift(table: String, file: String, settings: FooterSettings = loose): Option[SchemaDrift] =
    SchemaCheck.exactlyReadable(
      StructType.fromDDL(table),
      Seq(footer(StructType.fromDDL(file))),
      settings
    ).left.toOption

  test("equal, missing and reordered columns are accepted, at any depth") {
    assert(drift("a int", "a int").isEmpty && drift("a int, b string", "b string").isEmpty)
    assert(drift("s struct<x: int, y: array<struct<p: int, q: int>>>", "s struct<y: array<struct<q: int>>>").isEmpty)
    assert(drift("m map<string, struct<a: int, b: int>>", "m map<string, struct<b: int>>").isEmpty)
  }

  test("a column that the table lacks would be lost, at any depth") {
    assert(drift("a int", "a int, b int").map(_.column).contains(Seq("b")))
    assert(drift("s struct<x: int>", "s struct<x: int, y: int>").map(_.column).contains(Seq("s", "y")))
    assert(drift("a array<struct<x: int>>", "a array<struct<y: int>>").map(_.column).contains(Seq("a", "element", "y")))
    val ofMap = drift("m map<string, struct<x: int>>", "m map<string, struct<y: int>>")
    assert(ofMap.map(_.column).contains(Seq("m", "value", "y")))
  }

  test("how many files differ, and one that does not") {
    def of(types: String*) = SchemaCheck.exactlyReadable(
      StructType.fromDDL("a int"),
      types.zipWithIndex.map { case (t, i) => footer(StructType.fromDDL(s"a $t")).copy(path = s"/t/$i") },
      loose
    ).left.toOption.map(d => d.file -> d.reason)
    val reason = "the file has bigint where the table has int"
    assert(of("int", "int").isEmpty)
    assert(of("bigint", "bigint").contains("/t/0" -> reason))
    val counted = s"$reason; that is so in 2 of 4 files, and not in /t/0"
    assert(of("int", "bigint", "string", "bigint").contains("/t/1" -> counted))
  }

  test("types may widen only without loss") {
    // From the type of the file to that of the table.
    val safe = "tinyint smallint; tinyint bigint; smallint int; int bigint; int double; float double; binary string; " +
      "decimal(5,2) decimal(30,2)"
    val unsafe = "bigint int; bigint double; double float; int float; decimal(5,2) decimal(30,3); string int; " +
      "decimal(6,2) decimal(5,2); timestamp timestamp_ntz; timestamp_ntz timestamp; date timestamp; string binary; " +
      "struct<a:int> int; int array<int>"
    for ((pairs, isSafe) <- Seq(safe -> true, unsafe -> false); pair <- pairs.split("; ")) {
      val Array(file, table) = pair.split(' '): @unchecked
      assert(drift(s"a $table", s"a $file").isEmpty == isSafe, pair)
    }
  }

  test("names must be unique, and their case matters only to case-sensitive sessions") {
    val strict = loose.copy(caseSensitive = true)
    assert(drift("a int", "A int").isEmpty && drift("a int", "A int", strict).isDefined)
    val twice = StructType(Seq(StructField("a", IntegerType), StructField("A", IntegerType)))
    assert(SchemaCheck.exactlyReadable(StructType.fromDDL("a int"), Seq(footer(twice)), loose).isLeft)
    assert(SchemaCheck.exactlyReadable(twice, Seq(footer(twice)), strict).isRight)
  }

  test("types that Spark cannot write back, and field ids") {
    val s = StructType.fromDDL("a bigint")
    val odd = footer(s, Seq(Unreadable(Seq("a"), Unreadable.Unsigned)))
    val drifted = SchemaDrift("/t/f", Seq("a"), "it holds unsigned 64-bit integers", anySchema = true)
    assert(SchemaCheck.exactlyReadable(s, Seq(odd, odd), loose) == Left(drifted))
    val id = new MetadataBuilder().putLong("parquet.field.id", 1).build()
    val ids = new StructType().add("a", LongType, nullable = true, id)
    assert(SchemaCheck.exactlyReadable(ids, Seq(footer(s)), loose).isRight)
    assert(SchemaCheck.exactlyReadable(ids, Seq(footer(s)), loose.copy(fieldIds = true)).isLeft)
  }

  test("a TIME must keep the digits of the file, though a job can read it") {
    def time(n: Int) = scala.util.Try(DataType.fromJson(s"\"time($n)\"")).toOption
    for { micros <- time(6); millis <- time(3) } {
      def of(t: DataType) = new StructType().add("a", ArrayType(t))
      def drift(t: DataType, f: DataType) = SchemaCheck.drift(of(t), footer(of(f)), loose)
      assert(drift(micros, millis).isEmpty && drift(millis, millis).isEmpty)
      assert(drift(millis, micros).exists(_.reason == "the file has time(6) where the table has time(3)"))
      val file = footer(new StructType().add("a", micros))
      assert(SchemaCheck.scannable(new StructType().add("a", millis), file, caseSensitive = false)(Seq("a")))
    }
  }

  test("intervals, collations and unannotated strings depend on the format") {
    assert(drift("a interval day to second", "a bigint").isEmpty && drift("a interval year to month", "a int").isEmpty)
    assert(drift("a string collate UTF8_LCASE", "a string").isEmpty)
    assert(drift("s struct<a: string>", "s struct<a: binary>").isEmpty)
    val orc = footer(StructType.fromDDL("a binary"), format = DataFormat.Orc)
    assert(SchemaCheck.exactlyReadable(StructType.fromDDL("a string"), Seq(orc), loose).isLeft)
  }
}
