package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8
import java.util.regex.{Matcher, Pattern}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.log.RecordJson
import org.sparkzorder.commit.machine.Recovery

class RecordSuite extends AnyFunSuite {
  private val from = new Path("mem:/t/_zorder/_v0000000007.json")

  private val record = Record(
    7L,
    "op-1",
    "OPTIMIZE",
    1700000000000L,
    "Zoë \"Q\"",
    Map("zOrderBy" -> "[\"a\",\"b\"]"),
    Map("numFiles" -> "2"),
    Seq(InputFile("p=a%3Ab/part-1.parquet", 100L, 5L, 3L), InputFile("with blank/x:y.parquet", 0L, 0L, 1L)),
    Seq(
      OutputFile("p=a%3Ab/new.parquet", 50L, 6L, 3L),
      OutputFile("o.parquet", 1L, 1L, 1L, Some("_zorder/trash/_v0000000001-op-0/o.parquet.retired"))
    ),
    Some("{\"curve\":\"z\"}")
  )

  private val written = new String(RecordJson.write(record), UTF_8)

  /** The record without its checksum, so that it can be changed. */
  private val text = written.replaceFirst(",\"crc\":\\d+}$", "}")

  private def fails(json: String): String = {
    val e = intercept[UnreadableRecordException](RecordJson.parse(json.getBytes(UTF_8), from))
    assert(e.file == from && e.getMessage.contains(from.toString))
    e.getMessage
  }

  test("a record reads back as it was written, and fields that are not known are ignored") {
    assert(RecordJson.parse(written.getBytes(UTF_8), from) == record)
    assert(RecordJson.parse(text.replaceFirst("\\{", "{\"future\": [1, {}],").getBytes(UTF_8), from) == record)
  }

  test("a record cut short anywhere, or with a byte changed, is refused, or says the same") {
    val bytes = written.getBytes(UTF_8)
    for (n <- bytes.indices) assertThrows[UnreadableRecordException](RecordJson.parse(bytes.take(n), from))
    fails(written + "{}")
    for (n <- bytes.indices; mask <- Seq(1, 32, 128)) {
      val garbled = bytes.updated(n, (bytes(n) ^ mask).toByte)
      try assert(RecordJson.parse(garbled, from) == record)
      catch { case _: UnreadableRecordException => }
    }
    assert(fails(written.replace("part-1", "part-2")).contains("checksum"))
  }

  private val outside = Seq(
    "/etc/passwd", "../x", "a/../../x", "a/..", "file:///x/../y", "", "a//b", "./a", "_zorder/lock-1", "p/_zorder/x",
    "a\\u0000b"
  )

  private val trash = "_zorder/trash/_v0000000001-op-0"

  private val sources = Seq("data/x", "_zorder", "../_zorder/x", "_zorder/../x", "_zorder/lock-1") ++
    Seq(s"p=1/$trash", s"$trash/..", "_zorder/staging/op").map(_ + "/o.parquet.retired")

  /** What is put in place of some text, and a part of the message. */
  private val changes: Seq[(String, String, String)] = Seq(
    ("\"rows\":3", "\"rows\":2", "rows come or go"),
    ("1700000000000", Long.MaxValue.toString, "a time"),
    ("\"version\":7", "\"version\":999999999999999999", "a version"),
    ("\"format\":1", "\"format\":7", "format 7"),
    ("\"way\":\"in-place\"", "\"way\":\"magic\"", "the way 'magic'"),
    ("\"inputs\":[", "\"inputs\":[5,", ""),
    ("\"parameters\":{", "\"parameters\":{\"x\":{},", ""),
    ("\"OPTIMIZE\"", "5", ""),
    ("with blank/x:y.parquet", "o.parquet", "twice"),
    ("\"version\":7", "\"version\":7,\"version\":7", ""),
    ("\"rows\":3", "\"rows\":3,\"rows\":3", ""),
    ("{", "{\"future\":" + "[" * 500 + "]" * 500 + ",", "")
  ) ++
    outside.map(name => ("\"o.parquet\"", s"\"$name\"", "not a file below")) ++
    sources.map(source => (s"$trash/o.parquet.retired", source, "not a file below")) ++
    Seq("..", "a/b", "").map(id => ("\"op-1\"", s"\"$id\"", "")) ++
    Seq("1e400", "99999999999999999999", "-1", "1.5", "\"1\"", "null", "[]", "9" * 2000)
      .map(n => ("\"length\":100", s"\"length\":$n", "")) ++
    Seq("format", "way", "version", "timestamp", "userId", "metrics", "inputs", "rows", "path")
      .map(name => (s"\"$name\":", "\"other\":", ""))

  test("a record is refused if it loses rows, names files twice or outside, or has wild numbers, types and formats") {
    for ((part, by, message) <- changes) {
      val changed = text.replaceFirst(Pattern.quote(part), Matcher.quoteReplacement(by))
      assert(changed != text && fails(changed).contains(message), s"$part by $by")
    }
    Seq("[" * 5000, "null", "7").foreach(fails)
  }

  test("what was told to the catalog survives writing and reading") {
    val copy = OutputFile("file:/t__zorder/v/c.parquet", 3, 4, 5, source = Some("file:/t/p=1/a b%.parquet"))
    val change = LocationChange(
      CatalogPartition(Seq("p" -> "ü/=", "q" -> "")),
      "file:/t/p=1",
      "file:/t__zorder/v/p=1",
      Seq(InputFile("file:/t/p=1/a b%.parquet", 3, 4, 5, Some("\"e\""))),
      Seq(copy)
    )
    val told =
      record.copy(way = CommitProtocol.Catalog, inputs = Nil, outputs = Nil, locationChanges = Seq(change))
    assert(RecordJson.parse(RecordJson.write(told), new Path("r")) == told)
    assert(told.brought == Seq(copy))
  }

  test("names below the root resolve and relate, whatever characters they hold") {
    for (root <- Seq("file:/tmp/my table", "hdfs://host:8020/t", "/t", "file:/")) {
      val folder = TableFolder(new Path(root), new MemoryOps(new MemoryFs))
      for (name <- Seq("a", "p=1/a:b.parquet", "p=a%3Ab/x y", "p=x:1/f")) {
        assert(folder.relative(folder.resolve(name)).contains(name), s"$root $name")
        assert(folder.staged(name, "op").getName == FileNames.name(name) + ".staged")
        assert(folder.retired(name, record).getParent.getName == "_v0000000007-op-1")
      }
      assert(folder.relative(new Path("/elsewhere-t/x")).isEmpty || root == "file:/")
      assert(folder.relative(folder.root).isEmpty)
    }
  }

  test("the history skips records that it cannot read") {
    val t = new SmallTable(Seq("p=1"))
    t.optimize()
    val folder = t.folder
    folder.ops.writeNew(folder.published(record.copy(version = 2), 5), "{".getBytes(UTF_8))
    folder.ops.writeNew(folder.published(record.copy(version = 3), 5), RecordJson.write(record))
    assert(t.history.map(e => (e.record.version, e.state)) == Seq((1L, "committed")))
  }

  test("the history tells how long files were being exchanged, also after a death") {
    def millis(t: SmallTable): Long = t.history.head.publishMillis.get
    val t = new SmallTable(Seq("p=1"))
    t.optimize()
    assert(millis(t) >= 0 && millis(t) < 60000)
    var deaths = 0
    for (k <- 1 to 200) {
      val dead = new SmallTable(Seq("p=1"))
      dead.attempt(dead.faulty(k, Fault.DieAfter))
      if (dead.isPublishing) {
        deaths += 1
        dead.fs.clock += 5000
        assert(dead.recover().isEmpty)
        // The clock in memory goes on by a millisecond with each call.
        assert(millis(dead) >= 5000 && millis(dead) < 5000 + 150)
      }
    }
    assert(deaths > 10)
  }

  test("an unfinished record under a name that we do not give is ignored, and stops no query") {
    val t = new SmallTable(Seq(""))
    t.optimize()
    val json = t.fs.file(t.fs.children("/t/_zorder").find(_.endsWith(".json")).get).get
    t.fs.nodes("/t/_zorder/_v0000000001-2ms.publishing") = json.copy(time = 7L)
    assert(Recovery.settled(t.folder, 0L, t.settings).around.isEmpty)
    assert(t.fs.visibleRows == t.allRows && t.history.map(_.record.version) == Seq(1L))
  }

  test("only folders below a side folder can be deleted with their content") {
    for (path <- Seq("/t", "/t/p=1", "/t/_zorder", "/t/_zorder/../p=1", "/")) {
      assertThrows[IllegalArgumentException](FileOps.requireBelowSideFolder(new Path("file:" + path)))
    }
    FileOps.requireBelowSideFolder(new Path("file:/t/_zorder/staging/x"))
  }
}
