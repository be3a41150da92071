package org.sparkzorder.memory.keep

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata
import org.roaringbitmap.RoaringBitmap
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.{MemoryFs, MemoryOps, TableFolder}
import org.sparkzorder.commit.side.MemoryFiles
import org.sparkzorder.memory.{Condition, FilterKey, FilterMemory, KeptFilter, KeptFilters, ReadFile}
import org.sparkzorder.memory.Condition.{End, NotNull, OneOf, Opaque, Range}
import org.sparkzorder.predicate.{BytesValue, LongValue}

/** Filters that outlive their process. */
class KeptMemorySuite extends AnyFunSuite {

  private val conditions: Seq[Condition] = Seq(
    NotNull("column 'x'"),
    Opaque("LIKE secret"),
    OneOf("column 'x'", Set(LongValue(1), LongValue(2))),
    OneOf("column 's'", Set(new BytesValue("secret".getBytes(UTF_8)))),
    Range("column 'x'", Some(End(LongValue(5), inclusive = true)), None)
  )

  private final class Table {
    val fs = new MemoryFs
    val folder: TableFolder = TableFolder(new Path("mem:/t"), new MemoryOps(fs))
    val files: Seq[ReadFile] = (0 until 20).map { i =>
      fs.put(s"/t/p=${i % 2}/f$i.parquet", Set(i), 10L + i)
      val meta = folder.ops.list(new Path(s"mem:/t/p=${i % 2}")).find(_.name == s"f$i.parquet").get
      ReadFile(meta.path, meta.length, meta.modificationTime, s"=${i % 2}")
    }
    fs.put("/t/_zorder/_index-0000000001.zidx", Set.empty, 5)
    var excluded = Set.empty[String]
    val table: KeptTable =
      KeptTable("mem:/t", folder, UserGroupInformation.getCurrentUser, Set("x"), !excluded.contains(_))

    def names: Seq[String] = fs.children("/t/_zorder/memory")
    def filter(of: Condition*): FilterKey = FilterKey("mem:/t", "settings", of.toSet)
  }

  private final class Process(t: Table) {
    val memory = new FilterMemory(1L << 20, 10000)
    val kept = new KeptMemory(memory)

    def learn(filter: FilterKey, files: ReadFile*): Unit = {
      memory.remember(filter, files, Some(Set("x")))
      kept.changed(t.table)
      kept.flush()
    }
    def knows(filter: FilterKey): Set[ReadFile] = {
      kept.load(t.table)
      val found = memory.filesWithout(filter)
      def status(f: ReadFile) = FileStatusWithMetadata(new FileStatus(f.length, false, 1, 1L, f.time, f.path))
      t.files.filter(f => found.exists(_.has(status(f), f.values))).toSet
    }
  }

  test("the next process knows what filters found, by the same conditions or more of them") {
    val t = new Table
    val first = new Process(t)
    first.learn(t.filter(conditions: _*), t.files.take(9): _*)
    first.learn(t.filter(conditions.head), t.files.takeRight(2): _*)
    val next = new Process(t)
    assert(next.knows(t.filter(conditions: _*)) == (t.files.take(9) ++ t.files.takeRight(2)).toSet)
    assert(next.knows(t.filter(conditions.head, Opaque("other"))) == t.files.takeRight(2).toSet)
    assert(next.knows(t.filter(conditions.tail: _*)).isEmpty)
    assert(next.knows(t.filter(conditions.head).copy(settings = "others")).isEmpty)
    assert(first.kept.failures == 0 && next.kept.failures == 0)
    assert(t.names.size == 1)
  }

  test("no word of a filter is written") {
    val t = new Table
    new Process(t).learn(t.filter(conditions: _*), t.files: _*)
    val text = t.names.map(n => new String(t.folder.ops.read(new Path(s"mem:$n"), 1L << 20), UTF_8)).mkString
    val words = Seq("secret", "736563726574", "column '", "LIKE", "'x'")
    assert(text.contains("f19.parquet") && words.forall(w => !text.contains(w)))
  }

  test("what may not be kept is not written, and nothing where there is no index") {
    val t = new Table
    val process = new Process(t)
    process.memory.remember(t.filter(conditions.head), t.files)
    process.kept.changed(t.table)
    process.kept.flush()
    assert(t.names.isEmpty)
    t.fs.nodes.remove("/t/_zorder/_index-0000000001.zidx")
    process.learn(t.filter(conditions.last), t.files: _*)
    assert(t.names.isEmpty && process.kept.failures == 0)
  }

  test("files that are gone or were changed are left out, and a later file of the same name is not known") {
    val t = new Table
    val process = new Process(t)
    process.memory.remember(t.filter(conditions.head), t.files, Some(Set("x")))
    t.fs.nodes.remove("/t/p=0/f0.parquet")
    t.fs.put("/t/p=1/f1.parquet", Set(7), 99L)
    process.learn(t.filter(conditions.head), t.files(2))
    assert(new Process(t).knows(t.filter(conditions.head)) == t.files.drop(2).toSet)
  }

  test("processes keep what they found side by side, and a few files are enough for many of them") {
    val t = new Table
    for (i <- t.files.indices) {
      new Process(t).learn(t.filter(Opaque(s"$i")), t.files(i))
      assert(t.names.size <= MemoryFiles.MaxFiles)
    }
    val last = new Process(t)
    assert(t.files.indices.forall(i => last.knows(t.filter(Opaque(s"$i"))) == Set(t.files(i))))
    last.kept.forget(t.folder)
    assert(t.names.isEmpty && new Process(t).knows(t.filter(Opaque("1"))).isEmpty)
  }

  test("a column that is excluded later keeps its filters out, of files that are there and of new ones") {
    val t = new Table
    val process = new Process(t)
    process.learn(t.filter(conditions.head), t.files: _*)
    t.excluded = Set("x")
    assert(new Process(t).knows(t.filter(conditions.head)).isEmpty)
    process.learn(t.filter(conditions.last), t.files: _*)
    t.excluded = Set.empty
    process.kept.forget(t.folder)
    t.excluded = Set("x")
    process.learn(t.filter(conditions.last), t.files: _*)
    assert(t.names.isEmpty)
  }

  private def numbered(t: Table): Map[Int, ReadFile] = t.files.zipWithIndex.map(_.swap).toMap

  private def bits(numbers: Iterable[Int]): RoaringBitmap = RoaringBitmap.bitmapOf(numbers.toSeq: _*)

  test("the least useful filters are left out of a file that would be too large, and files where there are too many") {
    val t = new Table
    val filters = (0 until 5000).map(i => KeptFilter("settings", Set("x"), Set(s"#$i" * 10), bits(0 until i % 20)))
    val bytes = KeptJson.write(t.folder, Seq(KeptFilters(numbered(t), filters)), 1 << 16)
    val read = KeptJson.read(t.folder)(bytes).head
    assert(bytes.length <= (1 << 16) && read.filters.size > 100 && read.filters.forall(_.files.getCardinality >= 17))
    val many = (0 until 100000).map(i => i -> ReadFile(new Path(s"mem:/t/f$i.parquet"), 1L, 1L, "")).toMap
    val wide = (0 until 2000).map(i => KeptFilter("settings", Set("x"), Set(s"#$i"), bits(0 until 100000 - i)))
    val some = KeptJson.read(t.folder)(KeptJson.write(t.folder, Seq(KeptFilters(many, wide)), 1 << 20)).head
    assert(some.files.size > 10000 && some.filters.size > 1000)
  }

  test("a torn, foreign or hostile file is read as it was written, or not at all") {
    val t = new Table
    val filters = Seq(
      KeptFilter("a", Set("x", "y"), Set("#1", "#2"), bits(0 until 7)),
      KeptFilter("b", Set.empty, Set("#1"), bits(Seq(1, 2, 5, 19)))
    )
    val list = KeptFilters(numbered(t).filter(f => f._1 < 7 || f._1 == 19), filters)
    val bytes = KeptJson.write(t.folder, Seq(list), 1 << 20)
    assert(KeptJson.read(t.folder)(bytes) == Seq(list))
    def read(bytes: Array[Byte]) =
      try KeptJson.read(t.folder)(bytes)
      catch { case _: IOException => Nil }
    for (n <- bytes.indices) assert(read(bytes.take(n)).isEmpty)
    val random = new Random(3)
    for (_ <- 1 to 20000) {
      val changed = bytes.clone()
      for (_ <- 0 to random.nextInt(3)) changed(random.nextInt(bytes.length)) = random.nextInt(128).toByte
      val found = read(changed)
      assert(found.isEmpty || found == Seq(list))
    }
    for (
      text <- Seq(
        "",
        "[]",
        "{}",
        "7",
        """{"version":1,"lists":[{"filters":[{"settings":"","columns":[],"conditions":["#"],"files":[0,5000000]}]}]}"""
      )
    )
      assert(read(text.getBytes(UTF_8)).isEmpty)
    val process = new Process(t)
    process.learn(t.filter(conditions.head), t.files: _*)
    val name = t.names.head
    val node = t.fs.nodes(name).asInstanceOf[org.sparkzorder.commit.File]
    t.fs.nodes(name) = node.copy(bytes = "{".getBytes(UTF_8), length = 1L)
    val next = new Process(t)
    assert(next.knows(t.filter(conditions.head)).isEmpty && next.kept.failures == 0)
  }
}
