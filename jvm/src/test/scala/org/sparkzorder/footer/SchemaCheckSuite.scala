package org.sparkzorder.footer

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.footer.ColumnFinder.fold
import org.sparkzorder.footer.ColumnMatch._

class SchemaCheckSuite extends AnyFunSuite {
  private val loose = FooterSettings(caseSensitive = false, fieldIds = false)

  private def footer(schema: StructType, unreadable: Seq[Unreadable] = Nil, format: DataFormat = DataFormat.Parquet) =
    FileFooter("/t/f", format, 1, schema, unreadable, None, None, Map(), Map(), Set(), Set(), Map(), positional = false)

  private def of(settings: FooterSettings, table: StructType, files: FileFooter*) =
    SchemaCheck.exactlyReadable(table, files, settings)

  private def drift(table: String, file: String, settings: FooterSettings = loose): Option[SchemaDifference] =
    of(settings, StructType.fromDDL(table), footer(StructType.fromDDL(file))).left.toOption

  test("equal, missing and reordered columns are accepted, and a column that the table lacks is not, at any depth") {
    assert(drift("a int", "a int").isEmpty && drift("a int, b string", "b string").isEmpty)
    assert(drift("s struct<x: int, y: array<struct<p: int, q: int>>>", "s struct<y: array<struct<q: int>>>").isEmpty)
    assert(drift("m map<string, struct<a: int, b: int>>", "m map<string, struct<b: int>>").isEmpty)
    assert(drift("a int", "a int, b int").map(_.column).contains(Seq("b")))
    assert(drift("s struct<x: int>", "s struct<x: int, y: int>").map(_.column).contains(Seq("s", "y")))
    assert(drift("a array<struct<x: int>>", "a array<struct<y: int>>").map(_.column).contains(Seq("a", "element", "y")))
    val ofMap = drift("m map<string, struct<x: int>>", "m map<string, struct<y: int>>")
    assert(ofMap.map(_.column).contains(Seq("m", "value", "y")))
  }

  test("how many files differ, and one that does not") {
    def ofTypes(types: String*) = {
      val files = types.zipWithIndex.map { case (t, i) => footer(StructType.fromDDL(s"a $t")).copy(path = s"/t/$i") }
      of(loose, StructType.fromDDL("a int"), files: _*).left.toOption.map(d => d.file -> d.reason)
    }
    val reason = "the file has bigint where the table has int"
    assert(ofTypes("int", "int").isEmpty)
    assert(ofTypes("bigint", "bigint").contains("/t/0" -> reason))
    val counted = s"$reason; that is so in 2 of 4 files, and not in /t/0"
    assert(ofTypes("int", "bigint", "string", "bigint").contains("/t/1" -> counted))
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

  test("names must be unique, in cases that matter to the session; types that Spark cannot write back, and field ids") {
    val strict = loose.copy(caseSensitive = true)
    assert(drift("a int", "A int").isEmpty && drift("a int", "A int", strict).isDefined)
    val twice = StructType(Seq(StructField("a", IntegerType), StructField("A", IntegerType)))
    assert(of(loose, StructType.fromDDL("a int"), footer(twice)).isLeft)
    assert(of(strict, twice, footer(twice)).isRight)
    val s = StructType.fromDDL("a bigint")
    val odd = footer(s, Seq(Unreadable(Seq("a"), Unreadable.Unsigned)))
    val drifted = SchemaDifference("/t/f", Seq("a"), "it holds unsigned 64-bit integers", anySchema = true)
    assert(of(loose, s, odd, odd) == Left(drifted))
    val id = new MetadataBuilder().putLong("parquet.field.id", 1).build()
    val ids = new StructType().add("a", LongType, nullable = true, id)
    assert(of(loose, ids, footer(s)).isRight)
    assert(of(loose.copy(fieldIds = true), ids, footer(s)).isLeft)
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
    assert(of(loose, StructType.fromDDL("a string"), orc).isLeft)
  }

  private val spellings = IndexedSeq("a", "A", "b", "B", "İ", "i̇")

  private def lists(length: Int): Iterator[IndexedSeq[String]] =
    if (length == 0) Iterator(IndexedSeq.empty) else lists(length - 1).flatMap(l => spellings.iterator.map(l :+ _))

  test("the index of names finds what a search through all names finds") {
    for {
      names <- (0 to 4).iterator.flatMap(lists)
      wanted <- spellings :+ "c"
      caseSensitive <- Seq(true, false)
    } {
      val fields = names.zipWithIndex.map { case (name, i) => name -> Int.box(i) }
      val found = new ColumnFinder[Integer](-1, caseSensitive, _ => false, _ => fields).of(Seq(wanted))
      val exact = names.indices.filter(names(_) == wanted)
      val similar = names.indices.filter(i => fold(names(i)) == fold(wanted))
      val expected = (if (caseSensitive) exact else similar) match {
        case Seq(i) => Found(Seq(Int.box(i)), exact.contains(i) && (similar.size == 1 || !caseSensitive))
        case Seq()  => Lacking(inAnyCase = similar.isEmpty)
        case _      => Unclear
      }
      assert(found == expected, (names, wanted, caseSensitive))
    }
  }
}
