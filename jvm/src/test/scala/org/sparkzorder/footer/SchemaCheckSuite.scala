package org.sparkzorder.footer

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class SchemaCheckSuite extends AnyFunSuite {
  private val loose = FooterSettings(caseSensitive = false, fieldIds = false)

  private def footer(
      schema: StructType,
      unreadable: Seq[Unreadable] = Nil,
      format: DataFormat = DataFormat.Parquet
  ) = FileFooter(
    "/t/f",
    format,
    1,
    schema,
    unreadable,
    None,
    None,
    Map.empty,
    Map.empty,
    Set.empty,
    Set.empty,
    Map.empty,
    positional = false
  )

  private def drift(table: String, file: String, settings: FooterSettings = loose): Option[SchemaDrift] =
    SchemaCheck.exactlyReadable(
      StructType.fromDDL(table),
      Seq(footer(StructType.fromDDL(file))),
      settings
    ).left.toOption

  test("equal, missing and reordered columns are accepted, at any depth") {
    Seq("a int" -> "a int", "a int, b string" -> "b string", "a int" -> "b int").take(2).foreach { case (t, f) =>
      assert(drift(t, f).isEmpty)
    }
    assert(drift("s struct<x: int, y: array<struct<p: int, q: int>>>", "s struct<y: array<struct<q: int>>>").isEmpty)
    assert(drift("m map<string, struct<a: int, b: int>>", "m map<string, struct<b: int>>").isEmpty)
  }

  test("a column that the table lacks would be lost, at any depth") {
    assert(drift("a int", "a int, b int").map(_.column).contains(Seq("b")))
    assert(drift("s struct<x: int>", "s struct<x: int, y: int>").map(_.column).contains(Seq("s", "y")))
    assert(drift("a array<struct<x: int>>", "a array<struct<y: int>>").map(_.column).contains(Seq("a", "element", "y")))
    assert(drift(
      "m map<string, struct<x: int>>",
      "m map<string, struct<y: int>>"
    ).map(_.column).contains(Seq("m", "value", "y")))
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
    Seq(
      "tinyint" -> "smallint",
      "tinyint" -> "bigint",
      "smallint" -> "int",
      "int" -> "bigint",
      "int" -> "double",
      "float" -> "double",
      "decimal(5,2)" -> "decimal(30,2)",
      "binary" -> "string"
    ).foreach { case (f, t) => assert(drift(s"a $t", s"a $f").isEmpty, s"$f to $t") }
    Seq(
      "bigint" -> "int",
      "bigint" -> "double",
      "double" -> "float",
      "int" -> "float",
      "decimal(5,2)" -> "decimal(30,3)",
      "decimal(6,2)" -> "decimal(5,2)",
      "string" -> "int",
      "timestamp" -> "timestamp_ntz",
      "timestamp_ntz" -> "timestamp",
      "date" -> "timestamp",
      "struct<a: int>" -> "int",
      "int" -> "array<int>",
      "string" -> "binary"
    ).foreach { case (f, t) => assert(drift(s"a $t", s"a $f").isDefined, s"$f to $t") }
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
    assert(SchemaCheck.exactlyReadable(
      s,
      Seq(odd, odd),
      loose
    ) == Left(SchemaDrift("/t/f", Seq("a"), "it holds unsigned 64-bit integers", anySchema = true)))
    val ids = StructType(Seq(StructField(
      "a",
      LongType,
      nullable = true,
      new MetadataBuilder().putLong("parquet.field.id", 1).build()
    )))
    assert(SchemaCheck.exactlyReadable(ids, Seq(footer(s)), loose).isRight)
    assert(SchemaCheck.exactlyReadable(ids, Seq(footer(s)), loose.copy(fieldIds = true)).isLeft)
  }

  test("a TIME must keep the digits of the file, though a job can read it") {
    def time(n: Int) = scala.util.Try(DataType.fromJson(s"\"time($n)\"")).toOption
    for { micros <- time(6); millis <- time(3) } {
      def drift(t: DataType, f: DataType) =
        SchemaCheck.drift(
          new StructType().add("a", ArrayType(t)),
          footer(new StructType().add("a", ArrayType(f))),
          loose
        )
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
