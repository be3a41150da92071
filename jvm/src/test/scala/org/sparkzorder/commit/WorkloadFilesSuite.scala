package org.sparkzorder.commit

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.side.WorkloadFiles

class WorkloadFilesSuite extends AnyFunSuite {

  private def text(s: String): Array[Byte] = s.getBytes(UTF_8)

  private final class Table {
    val fs = new MemoryFs
    val ops = new MemoryOps(fs)
    val folder: TableFolder = TableFolder(new Path("/t"), ops)
    fs.put("/t/a.parquet", Set(1, 2), 10)
    fs.put("/t/_zorder/_index-0000000001.zidx", Set.empty, 5)

    def file(name: String, bytes: Array[Byte]): Unit = {
      fs.put(s"/t/_zorder/workload/$name", Set.empty, bytes.length.toLong)
      fs.nodes(s"/t/_zorder/workload/$name") = File(bytes.length.toLong, fs.clock, Set.empty, bytes)
    }

    def contents: Seq[String] = WorkloadFiles.read(folder)(new String(_, UTF_8))
    def names: Seq[String] = fs.children("/t/_zorder/workload")
  }

  private def id(): String = UUID.randomUUID().toString

  test("a process has one file, which it replaces") {
    val t = new Table
    val mine = id()
    val first = WorkloadFiles.write(t.folder, mine, None, text("one"))
    assert(t.contents == Seq("one"))
    val second = WorkloadFiles.write(t.folder, mine, first, text("two"))
    assert(t.contents == Seq("two") && t.names.size == 1)
    WorkloadFiles.write(t.folder, id(), None, text("other"))
    assert(t.contents.toSet == Set("two", "other"))
    assert(second.exists(_.number == 2))
  }

  test("nothing is recorded where there is no index, and no side folder is made") {
    val t = new Table
    t.fs.nodes.remove("/t/_zorder/_index-0000000001.zidx")
    assert(WorkloadFiles.write(t.folder, id(), None, text("x")).isEmpty)
    t.fs.deleteAll("/t/_zorder")
    assert(WorkloadFiles.write(t.folder, id(), None, text("x")).isEmpty)
    assert(t.fs.below("/t") == Seq("/t/a.parquet"))
  }

  test("a side folder that somebody deletes at any moment stays deleted") {
    def deletedBefore(n: Int): Boolean = {
      val t = new Table
      var deleted = false
      val ops = new MemoryOps(
        t.fs,
        other = { case `n` =>
          deleted = true
          t.fs.deleteAll("/t/_zorder")
        }
      )
      try { WorkloadFiles.write(t.folder.copy(ops = ops), id(), None, text("x")); () }
      catch { case _: IOException => () }
      if (deleted) assert(t.fs.below("/t") == Seq("/t/a.parquet"), ops.trace)
      deleted
    }
    val calls = Iterator.from(1).takeWhile(deletedBefore).size
    assert(calls > 4)
  }

  test("if a call fails or the process dies, readable files are left, and the next process cleans up") {
    def failedAt(n: Int, fault: Fault): Boolean = {
      val t = new Table
      val mine = id()
      val last = WorkloadFiles.write(t.folder, mine, None, text("old"))
      val ops = new MemoryOps(t.fs, n, fault)
      try { WorkloadFiles.write(t.folder.copy(ops = ops), mine, last, text("new")); () }
      catch { case _: IOException | _: Died => () }
      assert(Set(Seq("old"), Seq("new")).contains(t.contents), (fault, n))
      WorkloadFiles.prune(t.folder, t.fs.clock + 3600 * 1000)
      assert(t.names.size == 1 && Set(Seq("old"), Seq("new")).contains(t.contents), (fault, n))
      assert(t.fs.visibleRows == Seq(1, 2))
      ops.calls >= n
    }
    for (fault <- Seq(Fault.ThrowBefore, Fault.ThrowAfter, Fault.DieBefore, Fault.DieAfter, Fault.DieHalf))
      assert(Iterator.from(1).takeWhile(failedAt(_, fault)).size > 4)
  }

  test("files are few: the oldest are taken over, by one process each") {
    val t = new Table
    (1 to 40).foreach { i => t.file(s"_${id()}-000001.json", text(s"$i")) }
    val taken = WorkloadFiles.takeOldest(t.folder)(new String(_, UTF_8))
    assert(taken == (1 to 40 - WorkloadFiles.MaxFiles + 1).map(_.toString))
    assert(WorkloadFiles.takeOldest(t.folder)(new String(_, UTF_8)).isEmpty)
    WorkloadFiles.write(t.folder, id(), None, text("mine"))
    assert(t.names.size == WorkloadFiles.MaxFiles)
  }

  test("other names, files that are too large, and files that cannot be parsed are ignored") {
    val t = new Table
    t.file(s"_${id()}-000001.json", text("good"))
    t.file(s"_${id()}-000001.json", Array.fill(WorkloadFiles.MaxBytes + 1)('x'.toByte))
    Seq("x.json", s"_${id()}-1.parquet", s"_${id()}-.json", s"_${id()}-9999999999999999.json")
      .foreach(name => t.file(name, text("bad")))
    t.fs.mkdirs(s"/t/_zorder/workload/_${id()}-000002.json")
    assert(t.contents == Seq("good"))
    assert(WorkloadFiles.read(t.folder)(b => if (b.length == 4) throw new IOException("no") else 1).isEmpty)
  }

  test("all of them together stay below a megabyte") {
    val t = new Table
    (1 to 32).foreach(_ => t.file(s"_${id()}-000001.json", Array.fill(60000)('x'.toByte)))
    t.file(s"_${id()}-000001.json", Array.fill(2 << 20)('x'.toByte))
    WorkloadFiles.prune(t.folder, 0)
    val sizes = t.names.flatMap(t.fs.file).map(_.length)
    assert(sizes.length == 15 && sizes.sum < (1 << 20) - WorkloadFiles.MaxBytes)
  }

  test("forty processes, one after the other or all at once, stay below a megabyte, and none hinders another") {
    val full = Array.fill(WorkloadFiles.MaxBytes)('x'.toByte)
    for (atOnce <- Seq(1, 5, 40)) {
      val t = new Table
      def size = t.names.flatMap(t.fs.file).map(_.length).sum
      (1 to 40).map(_ => id()).grouped(atOnce).foreach { ids =>
        ids.foreach(_ => WorkloadFiles.takeOldest(t.folder)(_ => ()))
        ids.foreach(i => assert(WorkloadFiles.write(t.folder, i, None, full).isDefined))
        ids.foreach(_ => WorkloadFiles.prune(t.folder, t.fs.clock))
        assert(size < (1 << 20), atOnce)
      }
      assert(t.contents.nonEmpty)
    }
  }

  test("all recorded queries can be deleted") {
    val t = new Table
    WorkloadFiles.write(t.folder, id(), None, text("x"))
    WorkloadFiles.clear(t.folder)
    assert(t.fs.below("/t") == Seq("/t/_zorder", "/t/_zorder/_index-0000000001.zidx", "/t/a.parquet"))
  }
}
