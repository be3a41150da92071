package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8
import java.util.regex.{Matcher, Pattern}

import scala.util.Random

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{InRest, Mutation}
import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.log.{History, HistorySettings, RecordJson}
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.commit.upkeep.{Restore, Trash}
import org.sparkzorder.layout.LayoutSpec

/**
 * Records and locks that are damaged, or made to do damage, in tables at every stage of every
 * operation. Queries and statements end in time with a result or one of our errors, touch no file
 * outside the table, and lose no row. Below that, what records say, and which of them are refused.
 */
class RecordFuzzSuite extends AnyFunSuite {
  private val outside = Map[String, Node](
    "/outside" -> Dir,
    "/outside/kept.parquet" -> File(7L, 7L, Set(-1), Array.emptyByteArray),
    "/t2" -> Dir,
    "/t2/kept.parquet" -> File(7L, 7L, Set(-2), Array.emptyByteArray),
    "/kept.parquet" -> File(7L, 7L, Set(-3), Array.emptyByteArray)
  )

  /** Tables whose OPTIMIZE, RESTORE or VACUUM died, one for each call. */
  private lazy val stages: IndexedSeq[MemoryFs] = {
    val all = for {
      operation <- 0 to 2
      dirs <- Seq(Seq(""), Seq("p=1", "p=2"))
      k <- 1 to 220 by (if (operation == 2) 5 else 2)
    } yield {
      val t = new SmallTable(dirs)
      if (operation > 0) t.optimize()
      val ops = t.faulty(k, Fault.DieAfter)
      t.attempt("op-2")(operation match {
        case 0 => t.optimize(ops, "op-2")
        case 1 => t.restore(ops, 0, "op-2")
        case _ => t.vacuum(ops, "op-2")
      })
      t.fs.nodes ++= outside
      t.fs
    }
    all.filter(controls(_).nonEmpty)
  }

  private def controls(fs: MemoryFs): Seq[String] =
    fs.children("/t/_zorder").filter(fs.file(_).exists(_.bytes.nonEmpty))

  private def mutated(fs: MemoryFs, random: Random, mutation: Mutation): String = {
    val path = mutation.pick(controls(fs))
    val file = fs.file(path).get
    val isRecord = path.contains("/_v0")
    val bytes = random.nextInt(4) match {
      case 0                                         => mutation.ofBytes(file.bytes)
      case 1 if isRecord                             => resealed(mutation.ofBytes(unsealed(file.bytes)))
      case _ if isRecord || path.contains("/_lock-") => resealed(mutation.ofJson(unsealed(file.bytes)))
      case _                                         => mutation.ofBytes(file.bytes)
    }
    val name = random.nextInt(8) match {
      case 0 if isRecord => path.replaceFirst("\\.[a-z]+$", "." + mutation.pick(RecordState.all).suffix)
      case 1 if isRecord =>
        path.replaceFirst("_v0+\\d", mutation.pick(Seq("_v0000000009", "_v999999999999999999", "v0000000000")))
      case 2 => s"/t/_zorder/_lock-${random.nextInt()}"
      case _ => path
    }
    if (random.nextBoolean()) fs.nodes.remove(path)
    fs.nodes(name) =
      File(bytes.length.toLong, mutation.pick(Seq(file.time, 0L, -5L, Long.MaxValue, fs.clock)), Set.empty, bytes)
    s"$path as $name: ${new String(bytes, UTF_8).take(2000)}"
  }

  private def unsealed(json: Array[Byte]): Array[Byte] =
    new String(json, UTF_8).replaceFirst(",\"crc\":\\d+}$", "}").getBytes(UTF_8)

  private def resealed(json: Array[Byte]): Array[Byte] = if (json.isEmpty) json else RecordJson.sealing(json)

  test("mutated records and locks", InRest) {
    val random = new Random(20261121)
    val mutation = new Mutation(random)
    val total = Mutation.files(0.4)
    val started = System.nanoTime()
    var queries, statements = 0
    Mutation.silently((0 until total).foreach { n =>
      val t = new SmallTable(Nil)
      t.fs.copyOf(stages(random.nextInt(stages.length)))
      val before = t.rowsAnywhere
      val what = mutated(t.fs, random, mutation)
      withClue(s"file $n, $what: ") {
        val ops = t.ops
        val folder = TableFolder(t.root, ops)
        val settings = t.settings.copy(attempts = 1)
        if (t.attempt("query")(Recovery.settled(folder, 0L, settings)).isEmpty) queries += 1
        assert(before.subsetOf(t.rowsAnywhere), "a query lost rows")
        val end = t.attempt("next") {
          val lock = Locking.acquire(folder, "next", settings)
          try {
            Recovery.recoverUnder(folder, lock, settings)
            History.read(folder).foreach(e => e.record.layout.foreach(LayoutSpec.parse))
            t.attempt("plan")(Restore.plan(folder, lock, 0, restoresLost = true))
            assert(before.subsetOf(t.rowsAnywhere), "a statement lost rows")
            Trash.vacuum(folder, lock, Trash.expired(folder, _ => true, settings = HistorySettings(0, 1, whole = 1)))
          } finally lock.release()
        }
        if (end.isEmpty) statements += 1
        outside.foreach { case (path, node) => assert(t.fs.nodes.get(path).contains(node), path) }
        val keys = t.fs.nodes.keySet
        assert(keys.forall(k => k == "/t" || k.startsWith("/t/") || outside.contains(k)))
        ops.trace.foreach { call =>
          // Outside, only a side folder above and the folder of new versions may be looked at.
          if (!Set("status mem:/_zorder", "list mem:/t__zorder")(call)) call.split(" mem:").drop(1).foreach { path =>
            assert((path == "/t" || path.startsWith("/t/")) && !path.split('/').contains(".."), call)
          }
        }
      }
    })
    val seconds = (System.nanoTime() - started) / 1e9
    info(f"$total tables: $queries queries settled, $statements statements done; ${total / seconds}%.0f a second")
    assert(queries > total / 4 && statements > total / 4)
  }

  test("a lock file that is too large counts as one that cannot be read") {
    val t = new SmallTable(Seq(""))
    t.fs.put("/t/_zorder/_lock-x", Set.empty, 1L << 30)
    assert(t.recover().isEmpty)
    t.fs.clock += 10000000L
    assert(t.attempt(t.ops).isEmpty)
  }

  test("after the last possible version a statement fails, and the table stays as it was") {
    val t = new SmallTable(Seq(""))
    t.fs.put(s"/t/_zorder/_v${SideNames.MaxVersion}-1ms.json", Set.empty, 10L)
    val before = t.snapshot
    assert(t.attempt(t.ops).exists(_.getMessage.contains("no version comes after")))
    assert(t.snapshot == before && t.fs.visibleRows == t.allRows)
  }

  private val from = new Path("mem:/t/_zorder/_v0000000007.json")

  private val inputs =
    Seq(InputFile("p=a%3Ab/part-1.parquet", 100L, 5L, 3L), InputFile("with blank/x:y.parquet", 0L, 0L, 1L))

  private val outputs = Seq(
    OutputFile("p=a%3Ab/new.parquet", 50L, 6L, 3L),
    OutputFile("o.parquet", 1L, 1L, 1L, Some("_zorder/trash/_v0000000001-op-0/o.parquet.retired"))
  )
  private val asked = Map("zOrderBy" -> "[\"a\",\"b\"]")

  private val record =
    Record(7L, "op-1", "OPTIMIZE", 1700000000000L, "Zoë \"Q\"", asked, Map("numFiles" -> "2"), inputs, outputs)
      .copy(layout = Some("{\"curve\":\"z\"}"))

  private val written = new String(RecordJson.write(record), UTF_8)

  /** The record without its checksum, so that it can be changed. */
  private val text = new String(unsealed(written.getBytes(UTF_8)), UTF_8)

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

  private val escapes = Seq(
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
    escapes.map(name => ("\"o.parquet\"", s"\"$name\"", "not a file below")) ++
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
    val told = record.copy(way = CommitProtocol.Catalog, inputs = Nil, outputs = Nil, locationChanges = Seq(change))
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
