package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{Files, Path => LocalPath}
import java.util.Comparator

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.{LockSettings, Locking}
import org.sparkzorder.commit.log.{History, TableState}
import org.sparkzorder.commit.machine.{FolderCommitter, Operation, Recovery, ScanView}
import org.sparkzorder.commit.side.IndexFiles
import org.sparkzorder.commit.storage.HadoopFileOps
import org.sparkzorder.commit.upkeep.{Restore, Trash}

/** Statements on the real local file system, with Hadoop's checksum files. */
class LocalSuite extends AnyFunSuite {

  private val fs = FileSystem.getLocal(new Configuration())
  private val ops = new HadoopFileOps(fs)

  private def withRoot(test: LocalPath => Unit): Unit = {
    val dir = Files.createTempDirectory("commit")
    try test(dir)
    finally
      Using.resource(Files.walk(dir))(_.sorted(Comparator.reverseOrder[LocalPath]()).forEach(f => Files.delete(f)))
  }

  private def put(path: Path, text: String): Unit = {
    val out = fs.create(path)
    try out.write(text.getBytes)
    finally out.close()
  }

  private def text(path: Path): String = {
    val in = fs.open(path)
    try new String(in.readAllBytes())
    finally in.close()
  }

  private def all(dir: LocalPath): Seq[String] =
    Using.resource(Files.walk(dir))(_.iterator.asScala.toList).filter(Files.isRegularFile(_)).map(f =>
      dir.relativize(f).toString
    ).sorted

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
      assert(all(dir) == Seq(".a.crc", ".b.crc", "a", "b"))
      assert(text(a) == "A" && text(b) == "B")
      val before = ops.status(a).get
      ops.rename(a, new Path(root, "d/a"))
      assert(all(dir) == Seq(".b.crc", "b", "d/.a.crc", "d/a"))
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
      assert(all(dir) == Seq("b"))
      assert(text(new Path(root, "b")) == "A")
    }
  }

  test("a folder of ours with only a lone checksum file is removed") {
    withRoot { dir =>
      val staging = new Path(dir.toUri.toString, "_zorder/staging/_op-1")
      Seq("a", "b").foreach(name => put(new Path(staging, name), name))
      Files.delete(dir.resolve("_zorder/staging/_op-1/a"))
      assert(!ops.deleteEmpty(staging))
      assert(all(dir.resolve("_zorder/staging/_op-1")) == Seq(".a.crc", ".b.crc", "b"))
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
      assert(all(dir).isEmpty && !Files.exists(dir.resolve("_zorder")))
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

  private def table(dir: LocalPath): Record = {
    val inputs = for (p <- 1 to 2; i <- 1 to 3) yield {
      val name = s"p=$p/part-$i.parquet"
      put(new Path(new Path(dir.toUri), name), s"$p$i ")
      val meta = ops.status(new Path(new Path(dir.toUri), name)).get
      InputFile(name, meta.length, meta.modificationTime, 1L)
    }
    Record(0L, "op-1", "OPTIMIZE", 1L, "me", Map.empty, Map.empty, inputs, Nil)
  }

  private def optimize(dir: LocalPath, base: Record, ops: FileOps, settings: LockSettings, id: String): Record = {
    val folder = TableFolder(new Path(dir.toUri), ops)
    val lock = Locking.acquire(folder, id, settings)
    try {
      Recovery.recoverUnder(folder, lock, settings)
      val committer = new FolderCommitter(folder, lock)
      Operation.run(committer, folder, lock) {
        committer.claim(Seq("p=1", "p=2"))
        val staged = (1 to 2).flatMap { p =>
          Seq(s"p=$p/new-1.parquet" -> s"${p}1 ${p}3 ", s"p=$p/new-2.parquet" -> s"${p}2 ")
        }.map { case (name, content) =>
          val path = folder.staged(name, id)
          put(path, content)
          name -> path
        }.toMap
        val outputs = staged.toSeq.sortBy(_._1).map { case (name, path) =>
          val meta = this.ops.status(path).get
          OutputFile(name, meta.length, meta.modificationTime, if (name.endsWith("1.parquet")) 2L else 1L)
        }
        committer.prepare(base.copy(operationId = id, outputs = outputs))
        IndexFiles.write(folder, lock, Array[Byte](1))
      }((_, _) => ())._1
    } finally lock.release()
  }

  private def rows(dir: LocalPath): Seq[String] =
    all(dir).filter(f => !f.contains("_zorder") && !f.endsWith(".crc"))
      .flatMap(f => text(new Path(dir.resolve(f).toUri)).trim.split(' ')).sorted

  private val expected = Seq("11", "12", "13", "21", "22", "23")

  private def lonelyChecksums(dir: LocalPath): Seq[String] =
    all(dir).filter(f => f.endsWith(".crc") && !f.contains("_zorder")).filterNot { f =>
      val crc = dir.resolve(f)
      Files.exists(crc.resolveSibling(crc.getFileName.toString.stripPrefix(".").stripSuffix(".crc")))
    }

  test("OPTIMIZE, its history, and VACUUM") {
    withRoot { dir =>
      optimize(dir, table(dir), ops, LockSettings(), "op-1")
      assert(rows(dir) == expected)
      assert(lonelyChecksums(dir).isEmpty)
      val folder = TableFolder(new Path(dir.toUri), ops)
      assert(all(dir).count(_.endsWith(".retired")) == 6)
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
      assert(all(dir).forall(f => !f.endsWith(".retired") && !f.contains("trash")))
      assert(!Files.exists(dir.resolve("p=1/_zorder")))
      assert(rows(dir) == expected)
    }
  }

  private def restore(dir: LocalPath, to: Long, ops: FileOps, settings: LockSettings, id: String): Unit = {
    val folder = TableFolder(new Path(dir.toUri), ops)
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
      def data: Seq[String] = all(dir).filterNot(_.contains("_zorder"))
      def times: Seq[Long] = data.map(f => Files.getLastModifiedTime(dir.resolve(f)).toMillis)
      val base = table(dir)
      val before = (data, times)
      optimize(dir, base, ops, LockSettings(), "op-1")
      val after = (data, times)
      for (i <- 2 to 5) {
        restore(dir, i % 2, ops, LockSettings(), s"op-$i")
        assert((data, times) == (if (i % 2 == 0) before else after))
        assert(rows(dir) == expected && lonelyChecksums(dir).isEmpty)
      }
      assert(all(dir).count(_.endsWith(".retired")) == 6)
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
    assert(rows(dir) == expected)
    assert(lonelyChecksums(dir).isEmpty)
    assert(!all(dir).exists(f => f.contains("lock-") || f.contains("staging")))
  }

  test("death at every eleventh call of RESTORE, then a query", InRest) {
    var k = 1
    var died = true
    while (died) {
      withRoot { dir =>
        val liveness = new FakeLiveness
        val settings = LockSettings(beatMillis = 3600000L, liveness = liveness)
        optimize(dir, table(dir), ops, settings, "op-1")
        died = dies(restore(dir, 0, new FailThenDie(ops, Int.MaxValue, k), settings, "op-2"))
        liveness.running.clear()
        val folder = TableFolder(new Path(dir.toUri), ops)
        withClue(s"death at call $k: ") {
          assertSettles(dir, folder, settings)
          assert(all(dir).count(_.endsWith(".retired")) == (if (History.read(folder).size == 1) 6 else 4))
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
        val base = table(dir)
        died = dies(optimize(dir, base, new FailThenDie(ops, Int.MaxValue, k), settings, "op-1"))
        liveness.running.clear()
        val folder = TableFolder(new Path(dir.toUri), ops)
        withClue(s"death at call $k: ") {
          ScanView.of(folder, ops.list(folder.side)).foreach { around =>
            val listed = all(dir).filter(f => !f.contains("_zorder") && !f.endsWith(".crc")).filterNot(around.leaveOut)
            val paths = listed.map(f => new Path(dir.resolve(f).toUri)) ++ around.add.map(_.meta.path)
            assert(paths.flatMap(text(_).trim.split(' ')).sorted == expected)
          }
          assertSettles(dir, folder, settings)
        }
      }
      k += 3
    }
    assert(k > 60)
  }
}
