package org.sparkzorder.footer.parquet

import java.nio.file.{Files, Path => JPath}

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, Repository}
import org.sparkzorder.footer.files.{FooterReaders, Footers}
import org.sparkzorder.footer._
import org.sparkzorder.indexing.{FileScan, IndexBuilder}
import org.sparkzorder.stats._

/** Files of Spark, and files of Arrow C++ by the Python in `.venv`. Tests of these are skipped without it. */
class ParquetFooterSuite extends AnyFunSuite with FooterFixture {
  private val parquet = DataFormat.Parquet

  private def check(name: String, confs: (String, String)*): (FileFooter, StructType) = withSettings(confs: _*) {
    val df = Samples.all(spark)
    (sound(written(df, parquet, name, Map("parquet.block.size" -> "2048")), parquet, df.schema), df.schema)
  }

  test("every type, with INT96 timestamps, as Spark writes them by default") {
    val (f, schema) = check("int96", "spark.sql.parquet.outputTimestampType" -> "INT96")
    assert(f.rows == 100 && f.timestamps.contains(TimestampKind.Int96) && f.codec.contains("snappy"))
    assert(f.unreadable.isEmpty)
    assert(f.untrusted == Set("ts", "ancient_ts", "bin").map(key(schema, _)))
    assert(f.missing.isEmpty && f.loose.isEmpty && f.sessionBound.isEmpty)
    assert(f.stats(key(schema, "nothing")) == ColumnStats(null, null, 100, 0))
    assert(f.stats(key(schema, "i32")).nullCount == 15)
  }

  test("byte strings that are encoded as differences are known, and only these") {
    def has(name: String, column: String, options: (String, String)*): Boolean = {
      val df = spark.range(1000).selectExpr(s"$column AS c")
      footer(written(df, parquet, name, options.toMap), parquet, df.schema).hasDifferences
    }
    val v2 = Seq("parquet.writer.version" -> "v2", "parquet.enable.dictionary" -> "false")
    assert(has("differences-text", "string(id)", v2: _*))
    assert(has("differences-in-array", "array(hex(id))", v2: _*))
    assert(has("differences-decimal", "cast(id AS decimal(30, 2))", v2: _*))
    assert(!has("differences-number", "id", v2: _*))
    assert(!has("differences-none", "string(id)"))
  }

  test("encodings count by the type of their column, without those that every reader knows") {
    def encodings(name: String, options: (String, String)*): Set[String] = {
      val df = spark.range(1000).selectExpr("id a", "cast(id % 7 as int) b", "string(id) c", "id % 2 = 0 d")
      val status = written(df, parquet, name, options.toMap)
      val reader = FooterReaders.of(parquet, conf, df.schema, Nil, settingsOfFooters, withTraits = true)
      reader.read(status).traits.get.encodings.map { case (kind, encoding) => s"$kind $encoding" }
    }
    val v2 = "parquet.writer.version" -> "v2"
    assert(encodings("encodings-1") == Set.empty)
    assert(encodings("encodings-2", v2) == Set("INT64 DELTA_BINARY_PACKED", "BINARY DELTA_BYTE_ARRAY"))
  }

  test("nulls of arrays, maps and structs are known where the counts of the leaves prove them") {
    val full = Seq(
      "if(id < 9, array(id), null) a",
      "if(id < 9, map(id, id), null) m",
      "if(id < 9, named_struct('x', if(id < 9, id, null), 'y', array(id)), null) s",
      "if(id < 9, array(named_struct('z', id)), null) n"
    )
    val some = Seq(
      "if(id = 1, null, array(id)) a",
      "if(id = 1, null, map(id, id)) m",
      "if(id = 1, null, named_struct('x', id, 'y', array(id))) s",
      "array(if(id = 1, null, named_struct('z', id))) n"
    )
    val empty = Seq(
      "if(id < 9, array_repeat(id, int(id)), null) a",
      "if(id < 9, map_from_arrays(array_repeat(id, int(id % 2)), array_repeat(id, int(id % 2))), null) m",
      "if(id < 9, named_struct('x', if(id = 1, null, id), 'y', array_repeat(id, int(id))), null) s",
      "if(id < 9, array_repeat(named_struct('z', id), int(id)), null) n"
    )
    def nulls(columns: Seq[String], name: String): Map[String, Long] = {
      val df = spark.range(3).selectExpr(columns: _*)
      val status = written(df, parquet, name)
      val all = IndexableColumns.all(df.schema)
      val f = footer(status, parquet, df.schema, all)
      val truth = FileScan.scan(spark, Seq((0, status)), parquet, df.schema, IndexedColumns(all))(0)
      f.stats.foreach { case (k, s) => assert(s.nullCount == truth.columns(k).nullCount, k) }
      f.stats.collect { case (k, s) if k.path.length == 1 => k.path.head -> s.nullCount }
    }
    assert(nulls(full, "nested-full") == Map("a" -> 0L, "m" -> 0L, "s" -> 0L, "n" -> 0L))
    // The field x of the struct is never null by itself, and Spark wrote n as required.
    assert(nulls(some, "nested-some") == Map("s" -> 1L, "n" -> 0L))
    assert(nulls(empty, "nested-empty") == Map.empty)
  }

  test("a struct is not counted when the file lacks a field of it, since Spark may read it as null") {
    val status = written(spark.range(3).selectExpr("named_struct('x', id) s"), parquet, "nested-lacks")
    val table = StructType.fromDDL("s struct<x: bigint, y: bigint>")
    val column = IndexableColumns.all(table).find(_.path == Seq("s")).get
    assert(!footer(status, parquet, table, Seq(column)).stats.contains(column))
    val same = StructType.fromDDL("s struct<x: bigint>")
    assert(footer(status, parquet, same, IndexableColumns.all(same)).stats.size == 2)
  }

  test("instants in microseconds and milliseconds") {
    Seq("TIMESTAMP_MICROS" -> TimestampKind.Micros, "TIMESTAMP_MILLIS" -> TimestampKind.Millis).foreach {
      case (name, kind) =>
        val (f, schema) = check(name, "spark.sql.parquet.outputTimestampType" -> name)
        assert(f.timestamps.contains(kind) && f.untrusted == Set(key(schema, "bin")))
    }
  }

  test("bounds in the legacy calendar and of legacy decimals hold for the rows") {
    val rebase = Seq("datetimeRebaseModeInWrite", "int96RebaseModeInWrite").map(_ -> "LEGACY")
    val legacy = rebase ++ Seq("outputTimestampType" -> "TIMESTAMP_MICROS", "writeLegacyFormat" -> "true")
    val (f, schema) = check("legacy", legacy.map { case (name, value) => s"spark.sql.parquet.$name" -> value }: _*)
    assert(Seq("ancient", "ancient_ts").forall(c => f.untrusted(key(schema, c))))
    assert(Seq("d", "ts").forall(c => f.stats.contains(key(schema, c)) || c == "ts"))
    assert(f.sessionBound.isEmpty, "the file names its calendar and its zone")
  }

  test("a chunk with a NaN has no bounds, and a chunk with bounds has no NaN") {
    val df = spark.range(10).selectExpr(
      "if(id = 5, double('NaN'), double(id)) as nan",
      "-0.0D as zero",
      "if(id = 0, float('-Infinity'), float('NaN')) as mostly"
    )
    val f = sound(written(df, parquet, "nan"), parquet, df.schema)
    assert(f.untrusted == Set("nan", "mostly").map(key(df.schema, _)))
    assert(f.stats(key(df.schema, "zero")) == ColumnStats(Long.box(0), Long.box(0), 0, 0))
  }

  test("long strings without statistics are not taken for nulls, and strings of 300 bytes get short bounds") {
    val df = spark.range(3).selectExpr("repeat(cast(id as string), 5000) as s", "id")
    val f = footer(written(df, parquet, "long"), parquet, df.schema)
    assert(f.untrusted == Set(key(df.schema, "s")) && f.stats.keySet == Set(key(df.schema, "id")))
    val shorter = spark.range(3).selectExpr("repeat(cast(id as string), 300) as s")
    val known = sound(written(shorter, parquet, "middling"), parquet, shorter.schema)
    assert(known.stats(key(shorter.schema, "s")).max.asInstanceOf[Array[Byte]].length == 128)
  }

  test("bounds have the type of a table with wider types, and narrower types are not trusted") {
    val df = spark.range(10).selectExpr(
      "int(id) as a", "float(id) as f", "cast(id as decimal(5,2)) as d", "id as n", "cast(id as decimal(12,2)) as m"
    )
    val status = written(df, parquet, "widened")
    val table = StructType.fromDDL("a bigint, f double, d decimal(20,2), n int, m decimal(12,3)")
    val f = footer(status, parquet, table)
    val readable = StructType(table.take(3))
    assert(f.untrusted == Set("n", "m").map(key(table, _)))
    assertSound(f, scanned(status, parquet, readable))
  }

  test("columns are found by exact names and in other cases; ambiguous and missing ones are recognized") {
    val df = spark.range(3).selectExpr("id as Id", "named_struct('X', id) as s", "id as other")
    val status = written(df, parquet, "names")
    val table = StructType.fromDDL("id bigint, s struct<x: bigint, y: bigint>, other bigint, gone int")
    val f = footer(status, parquet, table)
    assert(f.stats.keySet == Set(key(table, "id"), key(table, "s", "x"), key(table, "other")))
    assert(f.sessionBound == Map(key(table, "id") -> SessionBound.Always, key(table, "s", "x") -> SessionBound.Always))
    assert(f.missing == Set(key(table, "s", "y"), key(table, "gone")))
    withSettings("spark.sql.caseSensitive" -> "true") {
      val strict = footer(status, parquet, table)
      assert(strict.missing == Set(key(table, "gone"), key(table, "s", "y")))
      assert(strict.untrusted == Set(key(table, "id"), key(table, "s", "x")) && strict.sessionBound.size == 2)
      val twice = written(spark.range(2).selectExpr("id as a", "id + 1 as A"), parquet, "twice")
      withSettings("spark.sql.caseSensitive" -> "false") {
        val t = StructType.fromDDL("a bigint")
        assert(footer(twice, parquet, t).untrusted == Set(key(t, "a")))
      }
    }
  }

  test("an all-null row group beside a full one") {
    val df =
      spark.range(20000).select(expr("if(id < 10000, null, id) as a"), expr("repeat(cast(id as string), 20) as pad"))
    val f = sound(written(df, parquet, "groups", Map("parquet.block.size" -> "20000")), parquet, df.schema)
    assert(f.stats(key(df.schema, "a")).nullCount == 10000)
  }

  test("an empty file and a file that is not a Parquet file") {
    val empty = footer(written(spark.range(0).toDF(), parquet, "empty"), parquet, StructType.fromDDL("id bigint"))
    assert(empty.rows == 0 && empty.codec.isEmpty)
    Seq("text" -> "this is no data file at all", "short" -> "", "magic" -> ("PAR1" + "x" * 40 + "PAR1")).foreach {
      case (name, content) =>
        val file = Files.writeString(folder.resolve(s"$name.parquet"), content)
        val e = intercept[NotDataFileException](footer(statusOf(file), parquet, StructType.fromDDL("id bigint")))
        assert(e.path.endsWith(s"$name.parquet") && e.getMessage.contains(e.path))
    }
  }

  test("a job reads many footers in order, with errors in the places of damaged files", InRest) {
    val dir = folder.resolve("many").toString
    spark.range(0, 600, 1, 600).write.parquet(dir)
    val files = dataFiles(dir).sortBy(_.getPath.getName)
    val bad = Files.writeString(folder.resolve("bad.parquet"), "x")
    val all = files.patch(300, Seq(statusOf(bad)), 0)
    val schema = StructType.fromDDL("id bigint")
    val read = Footers.tryAll(spark, all, parquet, schema, IndexableColumns.of(schema))
    assert(read.size == all.size && read(300).isLeft)
    assert(read.zip(all).forall { case (r, s) => r.fold(_.path, _.path) == s.getPath.toString })
    assert(read.flatMap(_.toOption).map(_.rows).sum == 600)
    val few = Footers.readAll(spark, files.take(20), parquet, schema, IndexableColumns.of(schema))
    assert(few.map(_.path) == files.take(20).map(_.getPath.toString))
  }

  test("the footer of another file than the one that was listed does not count") {
    val dir = folder.resolve("exchanged").toString
    spark.range(0, 40, 1, 2).write.parquet(dir)
    val listed = dataFiles(dir).sortBy(_.getPath.getName)
    val exchanged = new java.io.File(listed.head.getPath.toUri)
    assert(exchanged.setLastModified(listed.head.getModificationTime - 5000))
    val schema = StructType.fromDDL("id bigint")
    val read = Footers.tryAll(spark, listed, parquet, schema, IndexableColumns.of(schema))
    assert(read.head.left.exists(_.isGone) && read.last.isRight)
  }

  private lazy val python: Option[JPath] = Some(Repository.root.resolve(".venv/bin/python"))
    .filter(p => Files.isExecutable(p) && run(p, "import pyarrow.parquet") == 0)

  private def run(python: JPath, script: String): Int = {
    val process = new ProcessBuilder(python.toString, "-c", script).redirectErrorStream(true)
      .redirectOutput(ProcessBuilder.Redirect.DISCARD).start()
    process.waitFor()
  }

  private def write(name: String, table: String, arguments: String = ""): JPath = {
    assume(python.isDefined, "no Python with pyarrow at .venv/bin/python")
    val file = folder.resolve(name)
    val script =
      s"import pyarrow as pa, pyarrow.parquet as pq, datetime as dt\npq.write_table(pa.table($table), r'$file'$arguments)"
    assert(run(python.get, script) == 0, script)
    file
  }

  private def judged(file: JPath, schema: StructType): FileFooter = footer(statusOf(file), DataFormat.Parquet, schema)

  test("plain types, strings and decimals, a null struct, and floats, whose bounds leave NaN out and are loose") {
    val plain = "'a': pa.array([3, None, -5], pa.int32()), 's': ['b', 'é', None], 'b': [True, None, False], " +
      "'d': pa.array([-1, 2, None]).cast(pa.decimal128(30, 2)), 'st': [{'x': 1}, None, {'x': None}]"
    val file = write("nan.parquet", s"{'f': [1.0, float('nan'), 2.0], 'g': [1.0, 2.0, -0.0], $plain}")
    val types = "f double, g double, a int, s string, b boolean, d decimal(30,2), st struct<x: bigint>"
    val schema = StructType.fromDDL(types)
    val f = sound(statusOf(file), DataFormat.Parquet, schema)
    val floats = Set("f", "g").map(key(schema, _))
    // A null struct may be missing in the count of its field.
    assert(f.untrusted == floats + key(schema, "st", "x") && f.loose.keySet == floats && f.stats.size == 4)
    assert(SchemaCheck.exactlyReadable(schema, Seq(f), settingsOfFooters).isRight)
  }

  test("an index uses loose bounds of floats without reading rows", InRest) {
    val files = Seq("{'f': [1.0, float('nan'), 2.0]}", "{'f': [3.0, 4.0, 5.0]}").zipWithIndex
      .map { case (t, i) => statusOf(write(s"loose-$i.parquet", t)) }
    val schema = StructType.fromDDL("f double")
    val columns = IndexableColumns.of(schema)
    def id(s: FileStatus) = FileId(s.getPath.getName, s.getLen, s.getModificationTime)
    var built = Seq.empty[(FileId, FileStats)]
    assert(jobs { built = IndexBuilder.build(spark, files, DataFormat.Parquet, schema, columns, id) } == 0)
    val found = built.map(_._2.columns(columns.head))
    assert(found.forall(c => c.hasBounds && c.nanCount == -1 && c.nullCount == 0))
    files.zip(found).foreach { case (file, c) =>
      val truth = scanned(file, DataFormat.Parquet, schema).columns(columns.head)
      val bounds = Seq(c.min -> truth.min, c.max -> truth.max)
      assert(bounds.forall { case (is, should) => OrderedValue.order.compare(is, should) == 0 }, file.getPath)
    }
  }

  test("clocks are trusted, and ancient dates are not if the writer does not name its calendar") {
    val clocks = "'at': pa.array([dt.datetime(2021, 1, 1, 12)] * 2, pa.timestamp('ms')), " +
      "'utc': pa.array([dt.datetime(2021, 1, 1, 12)] * 2, pa.timestamp('ms', 'UTC'))"
    val file = write("ancient.parquet", s"{'day': [dt.date(1500, 1, 1), dt.date(1990, 1, 1)], $clocks}")
    val schema = StructType.fromDDL("day date, at timestamp_ntz, utc timestamp")
    val f = judged(file, schema)
    val day = key(schema, "day")
    assert(f.untrusted == Set(day) && f.stats.size == 2 && f.sessionBound(day) == SessionBound.WhenAncient)
  }

  test("unsigned integers, nanoseconds, INT96, and no statistics") {
    val file = write(
      "odd.parquet",
      "{'u8': pa.array([1, 200], pa.uint8()), 'u32': pa.array([1, 4000000000], pa.uint32()), 'u64': pa.array([1, 2**63 + 1], pa.uint64())}"
    )
    val schema = StructType.fromDDL("u8 smallint, u32 bigint, u64 decimal(20,0)")
    def isRefused(schema: StructType, f: FileFooter): Boolean =
      SchemaCheck.exactlyReadable(schema, Seq(f), settingsOfFooters).isLeft
    val f = judged(file, schema)
    assert(f.untrusted.size == 3 && f.unreadable.map(_.column) == Seq(Seq("u64")) && isRefused(schema, f))
    def instant(unit: String) = s"{'t': pa.array([dt.datetime(2020, 1, 1)], pa.timestamp('$unit', 'UTC'))}"
    val (longs, instants) = (StructType.fromDDL("t bigint"), StructType.fromDDL("t timestamp"))
    val nanos = judged(write("nanos.parquet", instant("ns")), longs)
    assert(nanos.untrusted.size == 1 && isRefused(longs, nanos))
    val int96 = judged(write("int96.parquet", instant("us"), ", use_deprecated_int96_timestamps=True"), instants)
    assert(int96.timestamps.contains(TimestampKind.Int96))
    assert(int96.sessionBound == Map(key(instants, "t") -> SessionBound.Always))
    val none = write("none.parquet", "{'a': [1, 2, None], 's': ['x', 'y', 'z']}", ", write_statistics=False")
    assert(judged(none, StructType.fromDDL("a bigint, s string")).untrusted.size == 2)
  }
}
