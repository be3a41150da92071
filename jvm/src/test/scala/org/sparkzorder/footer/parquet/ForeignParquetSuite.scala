package org.sparkzorder.footer.parquet

import java.nio.file.{Files, Path => JPath}

import org.apache.hadoop.fs.FileStatus
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, Repository}
import org.sparkzorder.footer._
import org.sparkzorder.indexing.IndexBuilder
import org.sparkzorder.stats.{FileId, FileStats, IndexableColumns, OrderedValue}

/** Files of Arrow C++, written by the Python in `.venv`. Without it the suite is skipped. */
class ForeignParquetSuite extends AnyFunSuite with FooterFixture {
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
      s"import pyarrow as pa, pyarrow.parquet as pq, datetime as dt, decimal\npq.write_table(pa.table($table), r'$file'$arguments)"
    assert(run(python.get, script) == 0, script)
    file
  }

  private def judged(file: JPath, schema: StructType): FileFooter = footer(statusOf(file), DataFormat.Parquet, schema)

  test("plain types, strings and decimals") {
    val file = write(
      "plain.parquet",
      "{'a': pa.array([3, None, -5], pa.int32()), 's': ['b', 'é', None], 'd': pa.array([decimal.Decimal('-1.50'), decimal.Decimal('2.25'), None], " +
        "pa.decimal128(30, 2)), 'day': [dt.date(2020, 1, 1), dt.date(1990, 1, 1), None], 'st': [{'x': 1}, None, {'x': None}], 'b': [True, None, False]}"
    )
    val schema = StructType.fromDDL("a int, s string, d decimal(30,2), day date, st struct<x: bigint>, b boolean")
    val f = sound(statusOf(file), DataFormat.Parquet, schema)
    // A null struct may be missing in the count of its field.
    assert(f.untrusted == Set(key(schema, "st", "x")) && f.stats.size == 5)
    assert(f.sessionBound == Map(key(schema, "day") -> SessionBound.WhenAncient))
    assert(SchemaCheck.exactlyReadable(schema, Seq(f), settingsOfFooters).isRight)
  }

  test("floats: bounds leave NaN out and are loose") {
    val file = write("nan.parquet", "{'f': [1.0, float('nan'), 2.0], 'g': [1.0, 2.0, -0.0]}")
    val schema = StructType.fromDDL("f double, g double")
    val f = sound(statusOf(file), DataFormat.Parquet, schema)
    assert(f.untrusted == Set("f", "g").map(key(schema, _)) && f.loose.keySet == f.untrusted && f.stats.isEmpty)
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

  test("bounds are believed of writers that tests read: Parquet.Net moves clocks by its time zone") {
    val known = write(
      "clocks.parquet",
      "{'i': [1, 2], 'at': pa.array([dt.datetime(2021, 1, 1, 12)] * 2, pa.timestamp('ms')), " +
        "'utc': pa.array([dt.datetime(2021, 1, 1, 12)] * 2, pa.timestamp('ms', 'UTC'))}"
    )
    val schema = StructType.fromDDL("i bigint, at timestamp_ntz, utc timestamp")
    assert(judged(known, schema).untrusted.isEmpty)
    val bytes = Files.readAllBytes(known)
    val at = bytes.indexOfSlice("parquet-cpp-arrow".getBytes)
    "Parquet.Net      ".getBytes.copyToArray(bytes, at)
    val unknown = Files.write(known.resolveSibling("unknown.parquet"), bytes)
    assert(judged(unknown, schema).untrusted == Set("i", "at", "utc").map(key(schema, _)))
  }

  test("ancient dates are not trusted if the writer does not name its calendar") {
    val file = write("ancient.parquet", "{'day': [dt.date(1500, 1, 1), dt.date(1990, 1, 1)]}")
    val schema = StructType.fromDDL("day date")
    val f = judged(file, schema)
    val day = key(schema, "day")
    assert(f.untrusted == Set(day) && f.sessionBound == Map(day -> SessionBound.WhenAncient))
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
