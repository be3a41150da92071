package org.sparkzorder.commit

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.side.{WorkloadFile, WorkloadFiles}

class WorkloadFilesSuite extends AnyFunSuite {
  private def text(bytes: Array[Byte]): String = new String(bytes, UTF_8)
  private def full(length: Int): String = "x" * length
  private def id(): String = UUID.randomUUID().toString

  private final class Table extends MemoryTable {
    val fs = new MemoryFs
    val folder: TableFolder = TableFolder(new Path("/t"), ops)
    fs.put("/t/a.parquet", Set(1, 2), 10)
    fs.put("/t/_zorder/_index-0000000001.zidx", Set.empty, 5)

    def file(name: String, content: String): Unit = {
      val path = s"/t/_zorder/workload/$name"
      fs.put(path, Set.empty, 0L)
      fs.nodes(path) = File(content.length.toLong, fs.clock, Set.empty, content.getBytes(UTF_8))
    }

    /** What a process writes in place of its last file. */
    def write(content: String, by: String = id(), last: Option[WorkloadFile] = None, ops: FileOps = ops) =
      WorkloadFiles.write(folder.copy(ops = ops), by, last, content.getBytes(UTF_8))

    def contents: Seq[String] = WorkloadFiles.read(folder)(text)
    def names: Seq[String] = fs.children("/t/_zorder/workload")
    def sizes: Seq[Long] = names.flatMap(fs.file).map(_.length)
  }

  private def testOf(name: String)(body: Table => Any): Unit = test(name)(body(new Table))

  private def failing(work: => Any): Unit =
    try work
    catch { case _: IOException | _: Died => () }

  testOf("a process has one file, which it replaces") { t =>
    val mine = id()
    val first = t.write("one", mine)
    assert(t.contents == Seq("one"))
    val second = t.write("two", mine, first)
    assert(t.contents == Seq("two") && t.names.size == 1)
    t.write("other")
    assert(t.contents.toSet == Set("two", "other"))
    assert(second.exists(_.number == 2))
  }

  testOf("nothing is recorded where there is no index, and no side folder is made") { t =>
    t.fs.nodes.remove("/t/_zorder/_index-0000000001.zidx")
    assert(t.write("x").isEmpty)
    t.fs.deleteAll("/t/_zorder")
    assert(t.write("x").isEmpty)
    assert(t.fs.below("/t") == Seq("/t/a.parquet"))
  }

  test("a side folder that somebody deletes at any moment stays deleted") {
    def deletedBefore(n: Int): Boolean = {
      val t = new Table
      val ops = t.beside(n)(t.fs.deleteAll("/t/_zorder"))
      failing(t.write("x", ops = ops))
      if (ops.calls >= n) assert(t.fs.below("/t") == Seq("/t/a.parquet"), ops.trace)
      ops.calls >= n
    }
    assert(Iterator.from(1).takeWhile(deletedBefore).size > 4)
  }

  test("if a call fails or the process dies, readable files are left, and the next process cleans up") {
    def failedAt(n: Int, fault: Fault): Boolean = {
      val t = new Table
      val mine = id()
      val last = t.write("old", mine)
      val ops = t.faulty(n, fault)
      failing(t.write("new", mine, last, ops))
      assert(Set(Seq("old"), Seq("new")).contains(t.contents), (fault, n))
      WorkloadFiles.prune(t.folder, t.fs.clock + 3600 * 1000)
      assert(t.names.size == 1 && Set(Seq("old"), Seq("new")).contains(t.contents), (fault, n))
      assert(t.fs.visibleRows == Seq(1, 2))
      ops.calls >= n
    }
    for (fault <- Seq(Fault.ThrowBefore, Fault.ThrowAfter, Fault.DieBefore, Fault.DieAfter, Fault.DieHalf))
      assert(Iterator.from(1).takeWhile(failedAt(_, fault)).size > 4)
  }

  testOf("files are few: the oldest are taken over, by one process each") { t =>
    (1 to 40).foreach(i => t.file(s"_${id()}-000001.json", s"$i"))
    assert(WorkloadFiles.takeOldest(t.folder)(text) == (1 to 40 - WorkloadFiles.MaxFiles + 1).map(_.toString))
    assert(WorkloadFiles.takeOldest(t.folder)(text).isEmpty)
    t.write("mine")
    assert(t.names.size == WorkloadFiles.MaxFiles)
  }

  testOf("other names, files that are too large, and files that cannot be parsed are ignored") { t =>
    t.file(s"_${id()}-000001.json", "good")
    t.file(s"_${id()}-000001.json", full(WorkloadFiles.MaxBytes + 1))
    Seq("x.json", s"_${id()}-1.parquet", s"_${id()}-.json", s"_${id()}-9999999999999999.json").foreach(t.file(_, "bad"))
    t.fs.mkdirs(s"/t/_zorder/workload/_${id()}-000002.json")
    assert(t.contents == Seq("good"))
    assert(WorkloadFiles.read(t.folder)(b => if (b.length == 4) throw new IOException("no") else 1).isEmpty)
  }

  testOf("all of them together stay below a megabyte") { t =>
    (1 to 32).foreach(_ => t.file(s"_${id()}-000001.json", full(60000)))
    t.file(s"_${id()}-000001.json", full(2 << 20))
    WorkloadFiles.prune(t.folder, 0)
    assert(t.sizes.length == 15 && t.sizes.sum < (1 << 20) - WorkloadFiles.MaxBytes)
  }

  test("forty processes, one after the other or all at once, stay below a megabyte, and none hinders another") {
    for (atOnce <- Seq(1, 5, 40)) {
      val t = new Table
      (1 to 40).map(_ => id()).grouped(atOnce).foreach { ids =>
        ids.foreach(_ => WorkloadFiles.takeOldest(t.folder)(_ => ()))
        ids.foreach(i => assert(t.write(full(WorkloadFiles.MaxBytes), i).isDefined))
        ids.foreach(_ => WorkloadFiles.prune(t.folder, t.fs.clock))
        assert(t.sizes.sum < (1 << 20), atOnce)
      }
      assert(t.contents.nonEmpty)
    }
  }
}
