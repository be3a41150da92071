package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{Files, Path => LocalPath, Paths}
import java.nio.file.attribute.FileTime

import scala.util.Using

import org.apache.hadoop.fs.Path

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.{LockSettings, Locking}
import org.sparkzorder.commit.log.{History, TableState}
import org.sparkzorder.commit.machine.{FolderCommitter, Operation, Recovery, ScanView}
import org.sparkzorder.commit.storage.LocalMounts
import org.sparkzorder.commit.upkeep.{Restore, Trash}

/** Statements on the real local file system, with Hadoop's checksum files. */
class LocalSuite extends LocalTables {
  override protected def put(file: LocalPath, text: String): Unit =
    Using.resource(fs.create(path(file)))(_.write(text.getBytes))

  override protected def text(file: LocalPath): String =
    Using.resource(fs.open(path(file)))(in => new String(in.readAllBytes()))

  private def names(dir: LocalPath): Seq[String] =
    all(dir).filter(Files.isRegularFile(_)).map(f => dir.relativize(f).toString).sorted

  onDisk("a file that we may not look at is not taken for absent") { dir =>
    val loop = Files.createSymbolicLink(dir.resolve("loop"), dir.resolve("loop"))
    Seq("a", "d").map(name => path(loop.resolve(name))).foreach { file =>
      assert(intercept[IOException](ops.status(file)).getMessage.contains("loop"))
      assert(intercept[IOException](ops.list(file)).getMessage.contains("loop"))
    }
    val absent = path(dir.resolve("none"))
    assert(ops.status(absent).isEmpty && ops.list(absent).isEmpty)
    put(dir.resolve("file"), "A")
    // There cannot be a file below a file.
    assert(ops.status(path(dir.resolve("file/none"))).isEmpty)
  }

  onDisk("a file that cannot be made, as on a full disk, does not tell that the folder is gone") { dir =>
    val failed = intercept[IOException](ops.writeNew(path(dir.resolve("n" * 300)), Array.emptyByteArray))
    assert(!failed.isInstanceOf[FileNotFoundException] && failed.getMessage.contains("File name too long"))
  }

  onDisk("a rename overwrites nothing, moves into nothing and makes no folder") { dir =>
    val root = path(dir)
    def rename(from: String, to: String): Unit = ops.rename(new Path(root, from), new Path(root, to))
    val (a, b) = (dir.resolve("a"), dir.resolve("b"))
    put(a, "A")
    put(b, "B")
    ops.mkdirs(new Path(root, "d"))
    assertThrows[IOException](rename("a", "b"))
    assertThrows[IOException](rename("a", "d"))
    assertThrows[FileNotFoundException](rename("a", "gone/a"))
    assertThrows[FileNotFoundException](rename("none", "c"))
    assert(names(dir) == Seq(".a.crc", ".b.crc", "a", "b") && text(a) == "A" && text(b) == "B")
    val before = meta(a).modificationTime
    rename("a", "d/a")
    assert(names(dir) == Seq(".b.crc", "b", "d/.a.crc", "d/a"))
    val moved = dir.resolve("d/a")
    assert(text(moved) == "A" && meta(moved).modificationTime == before)
  }

  onDisk("a file does not get the old checksum file of another file of its name") { dir =>
    val (a, b) = (dir.resolve("a"), dir.resolve("b"))
    put(a, "A")
    put(b, "another text")
    Files.delete(b)
    Files.delete(dir.resolve(".a.crc"))
    ops.rename(path(a), path(b))
    assert(names(dir) == Seq("b") && text(b) == "A")
  }

  onDisk("a folder of ours with only a lone checksum file is removed") { dir =>
    val staging = dir.resolve("_zorder/staging/_op-1")
    def deleteEmpty(folder: String) = ops.deleteEmpty(new Path(path(dir), folder))
    Seq("a", "b").foreach(name => put(staging.resolve(name), name))
    Files.delete(staging.resolve("a"))
    assert(!deleteEmpty("_zorder/staging/_op-1") && names(staging) == Seq(".a.crc", ".b.crc", "b"))
    Files.delete(staging.resolve("b"))
    assert(deleteEmpty("_zorder/staging/_op-1") && !Files.exists(staging))
    put(dir.resolve("p=1/a"), "A")
    Files.delete(dir.resolve("p=1/a"))
    assert(!deleteEmpty("p=1"))
  }

  onDisk("files and folders of the side folder") { dir =>
    val root = path(dir)
    val file = new Path(root, "_zorder/x")
    assert(ops.list(file.getParent).isEmpty)
    assertThrows[FileNotFoundException](ops.writeNew(file, Array[Byte](1)))
    assert(names(dir).isEmpty && !Files.exists(dir.resolve("_zorder")))
    ops.mkdirs(file.getParent)
    ops.writeNew(file, Array[Byte](1, 2))
    assertThrows[IOException](ops.writeNew(file, Array[Byte](1)))
    assert(ops.read(file, 2).toSeq == Seq[Byte](1, 2))
    assertThrows[IOException](ops.read(file, 1))
    assert(!ops.deleteEmpty(file.getParent))
    assertThrows[FileNotFoundException](ops.touch(new Path(root, "_zorder/none")))
    assert(ops.list(file.getParent).map(_.name) == Seq("x"))
    Files.setLastModifiedTime(dir.resolve("_zorder/x"), FileTime.fromMillis(1000))
    ops.touch(file)
    assert(math.abs(ops.status(file).get.modificationTime - System.currentTimeMillis()) < 5000)
    assertThrows[IllegalArgumentException](ops.deleteRecursive(root))
    ops.delete(file)
    ops.delete(file)
    assert(ops.deleteEmpty(file.getParent) && !ops.deleteEmpty(file.getParent))
  }

  private def table(dir: LocalPath, ops: FileOps = ops): TableFolder = TableFolder(path(dir), ops)

  /** All rows are there, and no checksum file without its file. */
  private def assertWhole(dir: LocalPath): Unit = {
    assert(rows(data(dir)) == expected)
    val checksums = names(dir).filter(f => f.endsWith(".crc") && !f.contains("_zorder")).map(dir.resolve(_))
    val files = checksums.map(f => f.resolveSibling(f.getFileName.toString.stripPrefix(".").stripSuffix(".crc")))
    assert(files.forall(Files.exists(_)))
  }

  private def retired(dir: LocalPath): Int = names(dir).count(_.endsWith(".retired"))

  onDisk("OPTIMIZE, its history, and VACUUM") { dir =>
    val folder = table(dir)
    optimize(folder, inputs(dir), indexes = true)
    assertWhole(dir)
    assert(retired(dir) == 6)
    val took = History.read(folder).head.publishMillis.get
    assert(took >= 0 && took < 60000)
    val side = Seq("_README.txt", "_index-0000000001.zidx", s"_v0000000001-${took}ms.json")
    assert(ops.list(folder.side).map(_.name).sorted == side)
    val state = TableState.look(folder.root, ops).asInstanceOf[TableState.SideFolder]
    assert(!state.isBusy && state.version == 1 && state.lastRecord.get.outputs.size == 4 && state.indexes.size == 1)
    assert(state.lastRecord.get eq state.lastRecord.get)
    assert(Recovery.settled(folder, 0L).around.isEmpty)
    val record = History.read(folder).head.record
    val trash = Trash.all(folder, History.read(folder))
    assert(trash.map(t => (t.version, t.files.size, t.bytes)) == Seq((1L, 6, record.inputs.map(_.length).sum)))
    val lock = Locking.acquire(folder, "vacuum")
    Trash.vacuum(folder, lock, trash)
    lock.release()
    assert(History.read(folder).map(_.state) == Seq("vacuumed"))
    assert(retired(dir) == 0 && !names(dir).exists(_.contains("trash")))
    assert(!Files.exists(dir.resolve("p=1/_zorder")) && rows(data(dir)) == expected)
  }

  private def restore(folder: TableFolder, to: Long, settings: LockSettings, id: String): Unit = {
    val lock = Locking.acquire(folder, id, settings)
    try {
      Recovery.recoverUnder(folder, lock, settings)
      val plan = Restore.plan(folder, lock, to, restoresLost = false)
      val committer = new FolderCommitter(folder, lock)
      val record = Record(0L, id, "RESTORE", 1L, "me", Map.empty, Map.empty, plan.inputs, plan.outputs)
      Operation.run(committer, folder, lock) {
        committer.claim(record.folders.map(_.folder))
        committer.prepare(record)
      }((_, _) => ())
      ()
    } finally lock.release()
  }

  onDisk("RESTORE there and back, with the checksum files") { dir =>
    def files: Seq[(String, Long)] = names(dir).filterNot(_.contains("_zorder"))
      .map(f => f -> Files.getLastModifiedTime(dir.resolve(f)).toMillis)
    val first = inputs(dir)
    val before = files
    optimize(table(dir), first)
    val after = files
    for (i <- 2 to 5) {
      restore(table(dir), i % 2, LockSettings(), s"op-$i")
      assert(files == (if (i % 2 == 0) before else after))
      assertWhole(dir)
    }
    assert(retired(dir) == 6)
  }

  /** A statement, of `prepare`, dies at every n-th call. Then a query, in `judge`, finds each row once and settles all. */
  private def dying(every: Int)(prepare: (LocalPath, LockSettings) => TableFolder => Unit)(
      judge: (LocalPath, () => Unit) => Unit
  ): Unit = {
    var k = 1
    var died = true
    while (died) {
      withRoot { dir =>
        val liveness = new FakeLiveness
        val settings = LockSettings(beatMillis = 3600000L, liveness = liveness)
        val statement = prepare(dir, settings)
        died =
          try {
            statement(table(dir, new Dying(ops, k)))
            false
          } catch { case _: Died => true }
        liveness.running.clear()
        def settle(): Unit = {
          assert(Recovery.settled(table(dir), 1000L, settings).around.isEmpty)
          assertWhole(dir)
          assert(!names(dir).exists(f => f.contains("lock-") || f.contains("staging")))
        }
        withClue(s"death at call $k: ")(judge(dir, () => settle()))
      }
      k += every
    }
    assert(k > 60)
  }

  test("death at every eleventh call of RESTORE, then a query", InRest) {
    dying(every = 11) { (dir, settings) =>
      optimize(table(dir), inputs(dir), settings = settings)
      restore(_, 0, settings, "op-2")
    } { (dir, settle) =>
      settle()
      assert(retired(dir) == (if (History.read(table(dir)).size == 1) 6 else 4))
    }
  }

  test("death at every third call, then a query that recovers or reads around", InRest) {
    dying(every = 3) { (dir, settings) =>
      val first = inputs(dir)
      optimize(_, first, settings = settings, indexes = true)
    } { (dir, settle) =>
      val folder = table(dir)
      ScanView.of(folder, ops.list(folder.side)).foreach { around =>
        val listed = data(dir).filterNot(f => around.leaveOut(dir.relativize(f).toString))
        val added = around.add.map(a => LocalPath.of(a.meta.path.toUri))
        assert(rows(listed ++ added) == expected)
      }
      settle()
    }
  }

  test("a folder where a file system is mounted is told from others, also through a link") {
    assume(Files.isDirectory(Paths.get("/proc/self")), "only Linux has /proc")
    withRoot { dir =>
      val link = Files.createSymbolicLink(dir.resolve("link"), Paths.get("/proc"))
      def begins(file: LocalPath) = LocalMounts.begins(path(file))
      assert(begins(Paths.get("/proc")) && begins(link))
      assert(!begins(Files.createDirectory(dir.resolve("t"))) && !begins(Paths.get("/proc/self/fd")))
    }
  }
}
