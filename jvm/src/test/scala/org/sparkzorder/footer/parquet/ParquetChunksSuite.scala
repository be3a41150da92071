package org.sparkzorder.footer.parquet

import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{LogicalTypeAnnotation, MessageTypeParser, PrimitiveType, Types}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.Repository
import org.sparkzorder.footer.{Belief, CheckedVersions, StatisticsTrust, WritersTable}
import org.sparkzorder.footer.StatisticsTrust.{Loose, Trusted, Untrusted}
import org.sparkzorder.stats.{ColumnKey, ColumnStats}

/** What is believed of writers, what the chunks of columns say, the nulls of groups, and the types that Spark notes. */
class ParquetChunksSuite extends AnyFunSuite {
  private val arrow = "parquet-cpp-arrow version 20.0.0"
  private val parquetJava = "parquet-mr version 1.16.0 (build 1a2b)"
  private val unknown = null +: Seq(
    "", "Polars", "DuckDB", "parquet-mr", "parquet-mr version 1.8.2",
    "parquet-mr version 1.9.0 (build 38262e2c80015d0935dad20f8e18f2d6f9fbd03c)",
    "parquet-mr version 1.12.3-amzn-1 (build 1)", "parquet-mr version 1.10.99.7.1.7.0-551 (build abc)",
    "parquet-mr version 1.99.0 (build abc)", "parquet-mr-trino version 1.12.0 (build n/a)",
    "parquet-cpp version 1.5.1", "parquet-cpp-arrow version 5.0.0", "parquet-cpp-arrow version 10.0.1",
    "parquet-cpp-arrow version 18.0.0-SNAPSHOT", "parquet-cpp-arrow version 99.0.0",
    "parquet-cpp-arrow version 99999999999.0.0", "fastparquet-python version 2026.9.0 (build 0)", "Parquet.Net v4.0"
  )

  test("the page of writers has the same table") {
    val rows = (WritersTable.parquet ++ WritersTable.orc).map { v =>
      val b = v.belief
      val flags = Seq(b.bounds, b.booleans, b.nulls, b.nullsOfFields, b.excludesNaN).map(if (_) "yes" else "no")
      s"| `${v.name}` | ${v.first} to ${v.last} | ${flags.mkString(" | ")} |"
    }
    val page = Files.readAllLines(Repository.root.resolve("docs/writers.md")).asScala
    assert(page.filter(_.startsWith("| `")).toSeq == rows)
  }

  test("versions are compared as numbers, with both ends, and a name says its version in full, or counts as unknown") {
    val checked = CheckedVersions("w", "1.9.0", "1.10.2", Belief(nulls = true))
    for (version <- Seq("1.9.0", "1.9.15", "1.10.0", "1.10.2")) assert(checked.include(version), version)
    for (version <- Seq("1.8.99", "0.9.9", "1.10.3", "1.11.0", "2.0.0")) assert(!checked.include(version), version)
    for (version <- Seq("ORC Java", "ORC Java ", "ORC Java 1.9", "ORC Java 2.3.0-SNAPSHOT", "Presto 1.9.0", "", null))
      assert(WritersTable.ofOrc(version) == Belief(), s"$version")
    assert(WritersTable.ofOrc("ORC Java 2.3.0").bounds)
  }

  private val optional = Types.optional(PrimitiveTypeName.INT64).named("a")
  private val key = ColumnKey(Seq("a"), LongType)
  private def judge(by: String, chunks: ParquetChunk*): StatisticsTrust = of(key, optional, by, chunks: _*)

  private def of(key: ColumnKey, leaf: PrimitiveType, by: String, chunks: ParquetChunk*): StatisticsTrust =
    ParquetChunks.judge(key, leaf, required = false, chunks, new ParquetWriter(by, _ => None))

  private def chunk(rows: Long, nulls: Long, min: Any, max: Any) =
    ParquetChunk(rows, rows, Some(nulls), if (min == null) None else Some((min, max)))

  private def whole(rows: Long, nulls: Long) =
    if (nulls == rows) chunk(rows, nulls, null, null) else chunk(rows, nulls, Long.box(1), Long.box(9))

  for (by <- unknown) test(s"nothing is believed of $by, not even that all values are null") {
    assert(judge(by, whole(10, 3)) == Untrusted && judge(by, whole(10, 10)) == Untrusted)
    assert(judge(by, whole(10, 0)) == Untrusted)
    assert(of(ColumnKey(Seq("a"), BinaryType), optional, by, whole(10, 3)) == Untrusted)
  }

  test("versions that a test has checked are believed") {
    for (by <- Seq(arrow, parquetJava, "parquet-mr version 1.10.0", "parquet-cpp-arrow version 11.0.0"))
      assert(judge(by, whole(10, 3), whole(5, 5)) == Trusted(ColumnStats(1L, 9L, 8L, 0L)), by)
  }

  test("each kind is believed for itself: Polars 2.0.0 counts nulls and orders booleans, but its bounds are wrong") {
    val polars = "Polars (python) version 2.0.0 (build 22a1)"
    assert(judge(polars, whole(10, 3)) == Untrusted)
    assert(judge(polars, whole(10, 10)) == Trusted(ColumnStats(null, null, 10L, 0L)))
    val booleans = Types.optional(PrimitiveTypeName.BOOLEAN).named("a")
    val chunks = chunk(10, 3, Boolean.box(true), Boolean.box(true))
    assert(of(ColumnKey(Seq("a"), BooleanType), booleans, polars, chunks).isInstanceOf[Trusted])
    assert(of(ColumnKey(Seq("a"), BooleanType), booleans, "Polars", chunks) == Untrusted)
  }

  test("files that tools have joined are those of unknown writers") {
    val joined = new ParquetWriter(parquetJava, Map("original.created.by" -> arrow).get)
    assert(ParquetChunks.judge(key, optional, required = false, Seq(whole(10, 3)), joined) == Untrusted)
  }

  private val contradictions = Seq(
    "only nulls beside bounds" -> chunk(10, 10, Long.box(1), Long.box(9)),
    "more nulls than rows" -> chunk(10, 11, Long.box(1), Long.box(9)),
    "more nulls than rows, without bounds" -> chunk(10, 40, null, null),
    "fewer nulls than none" -> chunk(10, -1, Long.box(1), Long.box(9)),
    "bounds in the wrong order" -> chunk(10, 3, Long.box(9), Long.box(1)),
    "a chunk without values" -> ParquetChunk(0, 10, Some(0), None),
    "more values than rows" -> ParquetChunk(11, 10, Some(0), Some((Long.box(1), Long.box(9))))
  )

  for ((what, wrong) <- contradictions) test(s"a contradiction makes the column unknown for any writer: $what") {
    for (by <- Seq(arrow, parquetJava)) {
      assert(judge(by, wrong) == Untrusted)
      assert(judge(by, whole(10, 3), wrong, whole(5, 5)) == Untrusted)
      if (!what.contains("order"))
        assert(of(ColumnKey(Seq("a"), BinaryType), optional, by, wrong, whole(10, 3)) == Untrusted)
    }
  }

  test("nulls in a required column are a contradiction") {
    def judged(nulls: Long) =
      ParquetChunks.judge(key, optional, required = true, Seq(whole(10, nulls)), new ParquetWriter(arrow, _ => None))
    assert(judged(0) == Trusted(ColumnStats(1L, 9L, 0L, 0L)) && judged(1) == Untrusted)
  }

  test("whatever the counts of a writer are, what is trusted could be true") {
    val random = new Random(63)
    for (_ <- 1 to 20000) {
      val chunks = Seq.fill(1 + random.nextInt(3)) {
        val rows = random.nextInt(4).toLong
        val (min, max) = (Long.box(random.nextInt(4).toLong), Long.box(random.nextInt(4).toLong))
        val bounds = if (random.nextBoolean()) Some((min, max)) else None
        val nulls = if (random.nextInt(5) == 0) None else Some(random.nextInt(6).toLong - 1)
        ParquetChunk(if (random.nextInt(5) == 0) random.nextInt(5).toLong else rows, rows, nulls, bounds)
      }
      judge(if (random.nextBoolean()) arrow else parquetJava, chunks: _*) match {
        case Trusted(s) =>
          val filled = chunks.filter(_.rows > 0)
          assert(s.nullCount == filled.flatMap(_.nulls).sum && filled.forall(c => c.nulls.exists(_ <= c.rows)))
          val valued = filled.filter(c => c.nulls.get < c.rows)
          assert(s.hasBounds == valued.nonEmpty && filled.diff(valued).forall(_.bounds.isEmpty))
          if (s.hasBounds) assert(s.min == valued.map(_.bounds.get._1.asInstanceOf[Long]).min)
        case other => assert(other == Untrusted)
      }
    }
  }

  test("a null struct counts for parquet-java only, and bounds of floating point of Arrow leave NaN out") {
    val field = ColumnKey(Seq("s", "a"), LongType)
    for (nulls <- Seq(0L, 3L)) {
      assert(of(field, optional, arrow, whole(10, nulls)) == Untrusted)
      assert(of(field, optional, parquetJava, whole(10, nulls)) == Trusted(ColumnStats(1L, 9L, nulls, 0L)))
    }
    val leaf = Types.optional(PrimitiveTypeName.DOUBLE).named("a")
    val stats = chunk(10, 3, Double.box(1), Double.box(2))
    val double = ColumnKey(Seq("a"), DoubleType)
    assert(of(double, leaf, arrow, stats).isInstanceOf[Loose])
    assert(of(double, leaf, parquetJava, stats).isInstanceOf[Trusted])
    assert(of(double, leaf, "Polars", stats) == Untrusted)
  }

  test("binary decimals are believed with the other bounds") {
    val leaf = Types.optional(PrimitiveTypeName.BINARY).as(LogicalTypeAnnotation.decimalType(2, 30)).named("a")
    val decimal = ColumnKey(Seq("a"), DecimalType(30, 2))
    val (min, max) = (Binary.fromConstantByteArray(Array[Byte](-5)), Binary.fromConstantByteArray(Array[Byte](7)))
    assert(of(decimal, leaf, arrow, chunk(10, 3, min, max)).isInstanceOf[Trusted])
    assert(of(decimal, leaf, arrow, chunk(10, 3, max, min)) == Untrusted)
    assert(of(decimal, leaf, "parquet-mr version 1.9.0", chunk(10, 3, min, max)) == Untrusted)
  }

  private def leaf(values: Long, nulls: Long) = ParquetChunk(values, rows = 4, Some(nulls).filter(_ >= 0), None)

  /** The nulls of `g`, with the same chunks in each row group; in order of the leaves. */
  private def nulls(field: String, rowGroups: Seq[ParquetChunk]*): Option[Long] = {
    val message = MessageTypeParser.parseMessageType(s"message m { $field }")
    val leaves = message.getPaths.toArray(Array.empty[Array[String]]).map(_.toSeq)
    val chunks = rowGroups.map(chunks => leaves.zip(chunks).toMap.get _)
    ParquetGroups.nulls(message.getFields.get(0).asGroupType, Seq("g"), required = false, chunks)
  }

  test("a struct with a required field is null where the field is") {
    def of(rowGroups: Seq[ParquetChunk]*) =
      nulls("optional group g { required int32 a; optional int32 b; }", rowGroups: _*)
    assert(of(Seq(leaf(4, 3), leaf(4, 4))).contains(3L))
    assert(of(Seq(leaf(4, 3), leaf(4, 4)), Seq(leaf(4, 1), leaf(4, 2))).contains(4L))
    assert(of(Seq(leaf(4, -1), leaf(4, 2))).isEmpty && of(Seq(leaf(4, 5), leaf(4, 2))).isEmpty)
  }

  test("optional fields tell of a struct only when one of them is never null") {
    val struct = "optional group g { optional int32 a; optional group h { required int32 b; } }"
    def of(rowGroups: Seq[ParquetChunk]*) = nulls(struct, rowGroups: _*)
    assert(of(Seq(leaf(4, 3), leaf(4, 0))).contains(0L) && of(Seq(leaf(4, 3), leaf(4, 1))).isEmpty)
    assert(of(Seq(leaf(4, 0), leaf(4, 1)), Seq(leaf(4, 1), leaf(4, 1))).isEmpty)
    assert(of(Seq(leaf(4, 0), leaf(4, 1)), Seq(leaf(4, 1), leaf(4, 0))).contains(0L))
  }

  test("a list without any null entry is never null") {
    val list = "optional group g (LIST) { repeated group list { required int32 element; } }"
    assert(nulls(list, Seq(leaf(9, 0))).contains(0L))
    // An entry without value may be a null list or an empty one.
    for (entries <- Seq(leaf(9, 1), leaf(4, 4), leaf(3, 0)))
      assert(nulls(list, Seq(entries)).isEmpty)
  }

  test("both types must have the same fields") {
    def same(table: String, file: String) = ParquetGroups.isSame(StructType.fromDDL(table), StructType.fromDDL(file))
    assert(same("s struct<x: bigint, y: array<double>>", "s struct<x: int, y: array<float>>"))
    assert(!same("s struct<x: bigint, y: int>", "s struct<x: bigint>"))
    assert(!same("s struct<x: bigint>", "s struct<X: bigint>"))
    assert(!same("a array<struct<x: int>>", "a array<struct<x: int, y: int>>"))
    assert(!same("m map<int, int>", "m array<int>") && !same("m int", "m array<int>"))
  }

  private val file = StructType.fromDDL("a boolean, b boolean, l array<boolean>, m map<int, struct<x: boolean>>, i int")
  private val noted = new StructType()
    .add("a", NullType)
    .add("b", BooleanType)
    .add("l", ArrayType(NullType))
    .add("m", MapType(IntegerType, new StructType().add("x", NullType)))
    .add("i", NullType)

  test("a noted VOID replaces only a boolean, at any depth, and a damaged note or one about other columns nothing") {
    assert(SparkRowTypes.refine(file, noted.json).map(_.dataType.simpleString) ==
      Seq("void", "boolean", "array<void>", "map<int,struct<x:void>>", "int"))
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
