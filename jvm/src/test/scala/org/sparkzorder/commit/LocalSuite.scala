package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{Files, Path => LocalPath, Paths}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.{LockSettings, Locking}
import org.sparkzorder.commit.log.{History, TableState}
import org.sparkzorder.commit.machine.{FolderCommitter, Operation, Recovery, ScanView}
import org.sparkzorder.commit.storage.LocalMounts
import org.sparkzorder.commit.upkeep.{Restore, Trash}

/** Statements on the real local file system, with Hadoop's checksum files. */
class LocalSuite extends AnyFunSuite with LocalTables {

  override protected def put(file: LocalPath, text: String): Unit = put(path(file), text)

  private def put(path: Path, text: String): Unit = {
    val out = fs.create(path)
    try out.write(text.getBytes)
    finally out.close()
  }

  override protected def text(file: LocalPath): String = text(path(file))

  private def text(path: Path): String = {
    val in = fs.open(path)
    try new String(in.readAllBytes())
    finally in.close()
  }

  private def names(dir: LocalPath): Seq[String] =
    all(dir).filter(Files.isRegularFile(_)).map(f => dir.relativize(f).toString).sorted

  test("a file that we may not look at is not taken for absent") {
    withRoot { dir =>
      val loop = Files.createSymbolicLink(dir.resolve("loop"), dir.resolve("loop"))
      val (file, folder) = (new Path(loop.resolve("a").toUri), new Path(loop.resolve("d").toUri))
      Seq(file, folder).foreach { path =>
        assert(intercept[IOException](ops.status(path)).getMessage.contains("loop"))
        assert(intercept[IOException](ops.list(path)).getMessage.contains("loop"))
      }
      val absent = new Path(dir.resolve("none").toUri)
      assert(ops.status(absent).isEmpty && ops.list(absent).isEmpty)
      put(new Path(dir.resolve("file").toUri), "A")
      // There cannot be a file below a file.
      assert(ops.status(new Path(dir.resolve("file/none").toUri)).isEmpty)
    }
  }

  test("a rename overwrites nothing, moves into nothing and makes no folder") {
    withRoot { dir =>
      val root = new Path(dir.toUri)
      val (a, b) = (new Path(root, "a"), new Path(root, "b"))
      put(a, "A")
      put(b, "B")
      assertThrows[IOException](ops.rename(a, b))
      ops.mkdirs(new Path(root, "d"))
      assertThrows[IOException](ops.rename(a, new Path(root, "d")))
      assertThrows[FileNotFoundException](ops.rename(a, new Path(root, "gone/a")))
      assertThrows[FileNotFoundException](ops.rename(new Path(root, "none"), new Path(root, "c")))
      assert(names(dir) == Seq(".a.crc", ".b.crc", "a", "b"))
      assert(text(a) == "A" && text(b) == "B")
      val before = ops.status(a).get
      ops.rename(a, new Path(root, "d/a"))
      assert(names(dir) == Seq(".b.crc", "b", "d/.a.crc", "d/a"))
      assert(text(new Path(root, "d/a")) == "A")
      assert(ops.status(new Path(root, "d/a")).get.modificationTime == before.modificationTime)
    }
  }

  test("a file does not get the old checksum file of another file of its name") {
    withRoot { dir =>
      val root = new Path(dir.toUri)
      put(new Path(root, "a"), "A")
      put(new Path(root, "b"), "another text")
      Files.delete(dir.resolve("b"))
      Files.delete(dir.resolve(".a.crc"))
      ops.rename(new Path(root, "a"), new Path(root, "b"))
      assert(names(dir) == Seq("b"))
      assert(text(new Path(root, "b")) == "A")
    }
  }

  test("a folder of ours with only a lone checksum file is removed") {
    withRoot { dir =>
      val staging = new Path(dir.toUri.toString, "_zorder/staging/_op-1")
      Seq("a", "b").foreach(name => put(new Path(staging, name), name))
      Files.delete(dir.resolve("_zorder/staging/_op-1/a"))
      assert(!ops.deleteEmpty(staging))
      assert(names(dir.resolve("_zorder/staging/_op-1")) == Seq(".a.crc", ".b.crc", "b"))
      Files.delete(dir.resolve("_zorder/staging/_op-1/b"))
      assert(ops.deleteEmpty(staging) && !Files.exists(dir.resolve("_zorder/staging/_op-1")))
      put(new Path(dir.toUri.toString, "p=1/a"), "A")
      Files.delete(dir.resolve("p=1/a"))
      assert(!ops.deleteEmpty(new Path(dir.toUri.toString, "p=1")))
    }
  }

  test("files and folders of the side folder") {
    withRoot { dir =>
      val root = new Path(dir.toUri)
      val file = new Path(root, "_zorder/x")
      assert(ops.list(new Path(root, "_zorder")).isEmpty)
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
      Files.setLastModifiedTime(dir.resolve("_zorder/x"), java.nio.file.attribute.FileTime.fromMillis(1000))
      ops.touch(file)
      assert(math.abs(ops.status(file).get.modificationTime - System.currentTimeMillis()) < 5000)
      assertThrows[IllegalArgumentException](ops.deleteRecursive(root))
      ops.delete(file)
      ops.delete(file)
      assert(ops.deleteEmpty(file.getParent) && !ops.deleteEmpty(file.getParent))
    }
  }

  private def table(dir: LocalPath, ops: FileOps = ops): TableFolder = TableFolder(path(dir), ops)

  private def lonelyChecksums(dir: LocalPath): Seq[String] =
    names(dir).filter(f => f.endsWith(".crc") && !f.contains("_zorder")).filterNot { f =>
      val crc = dir.resolve(f)
      Files.exists(crc.resolveSibling(crc.getFileName.toString.stripPrefix(".").stripSuffix(".crc")))
    }

  test("OPTIMIZE, its history, and VACUUM") {
    withRoot { dir =>
      optimize(table(dir), inputs(dir), indexes = true)
      assert(rows(data(dir)) == expected)
      assert(lonelyChecksums(dir).isEmpty)
      val folder = table(dir, ops)
      assert(names(dir).count(_.endsWith(".retired")) == 6)
      val took = History.read(folder).head.publishMillis.get
      assert(took >= 0 && took < 60000)
      assert(
        ops.list(folder.side).map(_.name).sorted == Seq(
          "_README.txt",
          "_index-0000000001.zidx",
          s"_v0000000001-${took}ms.json"
        )
      )
      TableState.look(folder.root, ops) match {
        case s: TableState.SideFolder =>
          assert(!s.isBusy && s.version == 1 && s.lastRecord.get.outputs.size == 4 && s.indexes.size == 1)
          assert(s.lastRecord.get eq s.lastRecord.get)
        case other => fail(s"$other")
      }
      assert(Recovery.settled(folder, 0L).around.isEmpty)
      val record = History.read(folder).head.record
      val retired = Trash.all(folder, History.read(folder))
      assert(retired.map(t => (t.version, t.files.size, t.bytes)) == Seq((1L, 6, record.inputs.map(_.length).sum)))
      val lock = Locking.acquire(folder, "vacuum")
      Trash.vacuum(folder, lock, retired)
      lock.release()
      assert(History.read(folder).map(_.state) == Seq("vacuumed"))
      assert(names(dir).forall(f => !f.endsWith(".retired") && !f.contains("trash")))
      assert(!Files.exists(dir.resolve("p=1/_zorder")))
      assert(rows(data(dir)) == expected)
    }
  }

  private def restore(dir: LocalPath, to: Long, ops: FileOps, settings: LockSettings, id: String): Unit = {
    val folder = table(dir, ops)
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

  test("RESTORE there and back, with the checksum files") {
    withRoot { dir =>
      def files: Seq[String] = names(dir).filterNot(_.contains("_zorder"))
      def times: Seq[Long] = files.map(f => Files.getLastModifiedTime(dir.resolve(f)).toMillis)
      val first = inputs(dir)
      val before = (files, times)
      optimize(table(dir), first)
      val after = (files, times)
      for (i <- 2 to 5) {
        restore(dir, i % 2, ops, LockSettings(), s"op-$i")
        assert((files, times) == (if (i % 2 == 0) before else after))
        assert(rows(data(dir)) == expected && lonelyChecksums(dir).isEmpty)
      }
      assert(names(dir).count(_.endsWith(".retired")) == 6)
    }
  }

  private def dies(statement: => Unit): Boolean =
    try {
      statement
      false
    } catch { case _: Died => true }

  /** A query finds each row once, and leaves nothing half done. */
  private def assertSettles(dir: LocalPath, folder: TableFolder, settings: LockSettings): Unit = {
    assert(Recovery.settled(folder, 1000L, settings).around.isEmpty)
    assert(rows(data(dir)) == expected)
    assert(lonelyChecksums(dir).isEmpty)
    assert(!names(dir).exists(f => f.contains("lock-") || f.contains("staging")))
  }

  test("death at every eleventh call of RESTORE, then a query", InRest) {
    var k = 1
    var died = true
    while (died) {
      withRoot { dir =>
        val liveness = new FakeLiveness
        val settings = LockSettings(beatMillis = 3600000L, liveness = liveness)
        optimize(table(dir), inputs(dir), settings = settings)
        died = dies(restore(dir, 0, new FailThenDie(ops, Int.MaxValue, k), settings, "op-2"))
        liveness.running.clear()
        val folder = table(dir, ops)
        withClue(s"death at call $k: ") {
          assertSettles(dir, folder, settings)
          assert(names(dir).count(_.endsWith(".retired")) == (if (History.read(folder).size == 1) 6 else 4))
        }
      }
      k += 11
    }
    assert(k > 60)
  }

  test("death at every third call, then a query that recovers or reads around", InRest) {
    var k = 1
    var died = true
    while (died) {
      withRoot { dir =>
        val liveness = new FakeLiveness
        val settings = LockSettings(beatMillis = 3600000L, liveness = liveness)
        val first = inputs(dir)
        val dying = table(dir, new FailThenDie(ops, Int.MaxValue, k))
        died = dies(optimize(dying, first, settings = settings, indexes = true))
        liveness.running.clear()
        val folder = table(dir, ops)
        withClue(s"death at call $k: ") {
          ScanView.of(folder, ops.list(folder.side)).foreach { around =>
            val listed = data(dir).filterNot(f => around.leaveOut(dir.relativize(f).toString))
            val added = around.add.map(a => LocalPath.of(a.meta.path.toUri))
            assert(rows(listed ++ added) == expected)
          }
          assertSettles(dir, folder, settings)
        }
      }
      k += 3
    }
    assert(k > 60)
  }

  test("a folder where a file system is mounted is told from others, also through a link") {
    assume(Files.isDirectory(Paths.get("/proc/self")), "only Linux has /proc")
    val folder = Files.createTempDirectory("zorder-mounts")
    val inside = Files.createDirectory(folder.resolve("t"))
    val link = Files.createSymbolicLink(folder.resolve("link"), Paths.get("/proc"))
    def begins(file: LocalPath) = LocalMounts.begins(path(file))
    try {
      assert(begins(Paths.get("/proc")) && begins(link))
      assert(!begins(inside) && !begins(Paths.get("/proc/self/fd")))
    } finally Seq(link, inside, folder).foreach(Files.delete)
  }
}
