package org.sparkzorder.commit

import java.io.IOException
import java.nio.file.{Files, Path => LocalPath}
import java.util.Comparator

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.{LockSettings, Locking}
import org.sparkzorder.commit.machine.{FolderCommitter, Recovery}
import org.sparkzorder.commit.storage.HadoopFileOps

/** Data files that are relative symbolic links, so that they lead nowhere once they are moved. */
class LinksSuite extends AnyFunSuite {

  private val fs = FileSystem.getLocal(new Configuration())
  private val ops = new HadoopFileOps(fs)

  private def withRoot(test: LocalPath => Unit): Unit = {
    val dir = Files.createTempDirectory("links")
    try {
      Files.createDirectories(dir.resolve("cache"))
      test(Files.createDirectories(dir.resolve("t")))
    } finally
      Using.resource(Files.walk(dir))(_.sorted(Comparator.reverseOrder[LocalPath]()).forEach(f => Files.delete(f)))
  }

  private def put(path: LocalPath, text: String): Unit = {
    Files.createDirectories(path.getParent)
    Files.writeString(path, text)
    ()
  }

  private def all(dir: LocalPath): Seq[LocalPath] = Using.resource(Files.walk(dir))(_.iterator.asScala.toList).sorted

  /** The rows that a plain reader finds. */
  private def rows(dir: LocalPath): Seq[String] =
    all(dir).filter(f => !f.toString.contains("_zorder") && Files.isRegularFile(f))
      .flatMap(Files.readString(_).split(' ')).sorted

  private def inputs(dir: LocalPath): Seq[InputFile] = for (p <- 1 to 2; i <- 1 to 3) yield {
    val name = s"p=$p/part-$i.parquet"
    put(dir.resolve(name), s"$p$i")
    val meta = ops.status(new Path(dir.resolve(name).toUri)).get
    InputFile(name, meta.length, meta.modificationTime, 1L)
  }

  private def optimize(dir: LocalPath, inputs: Seq[InputFile], ops: FileOps, settings: LockSettings): Unit = {
    val folder = TableFolder(new Path(dir.toUri), ops)
    val lock = Locking.acquire(folder, "op-1", settings)
    try {
      val committer = new FolderCommitter(folder, lock)
      committer.claim(Seq("p=1", "p=2"))
      val staged =
        (1 to 2).flatMap(p => Seq(s"p=$p/new-1.parquet" -> s"${p}1 ${p}3", s"p=$p/new-2.parquet" -> s"${p}2"))
      val outputs = staged.map { case (name, text) =>
        val file = java.nio.file.Paths.get(folder.staged(name, "op-1").toUri.getPath)
        put(file, text)
        val meta = this.ops.status(new Path(file.toUri)).get
        OutputFile(name, meta.length, meta.modificationTime, if (name.endsWith("1.parquet")) 2L else 1L)
      }
      committer.prepare(Record(0L, "op-1", "OPTIMIZE", 1L, "me", Map.empty, Map.empty, inputs, outputs))
      committer.commit()
      ()
    } finally lock.release()
  }

  /**
   * Replaces every input, in its place or in the trash, by a link to a file of the same content and
   * time.
   */
  private def link(dir: LocalPath, inputs: Seq[InputFile]): Unit = inputs.foreach { input =>
    val place = dir.resolve(input.path)
    val kept = dir.resolveSibling("cache").resolve(input.path.replace('/', '-'))
    val trash = all(dir).filter(_.getFileName.toString == s"${place.getFileName}.retired")
      .filter(_.startsWith(place.getParent))
    (place +: trash).filter(Files.exists(_)).foreach { file =>
      Files.move(file, kept)
      Files.createSymbolicLink(file, place.getParent.relativize(kept))
    }
  }

  private val expected = Seq("11", "12", "13", "21", "22", "23")

  test(
    "a table of links that is half published is finished or undone, wherever its owner and its recovery died",
    InRest
  ) {
    var k = 1
    var died = true
    while (died) {
      for (recoveryDies <- Seq(Int.MaxValue, 15, 30)) withRoot { dir =>
        val liveness = new FakeLiveness
        val settings = LockSettings(beatMillis = 3600000L, liveness = liveness)
        val files = inputs(dir)
        died =
          try {
            optimize(dir, files, new FailThenDie(ops, Int.MaxValue, k), settings)
            false
          } catch { case _: Died => true }
        liveness.running.clear()
        link(dir, files)
        val folder = TableFolder(new Path(dir.toUri), ops)
        withClue(s"death at call $k, recovery dies at call $recoveryDies: ") {
          try Recovery.recover(folder.copy(ops = new FailThenDie(ops, Int.MaxValue, recoveryDies)), settings)
          catch { case _: Died => liveness.running.clear() }
          assert(Recovery.settled(folder, 1000L, settings).around.isEmpty)
          assert(rows(dir) == expected)
          assert(!all(dir).exists(f => f.toString.contains("lock-") || f.toString.contains("staging")))
        }
      }
      k += 7
    }
    assert(k > 60)
  }

  test("inputs that became links before the commit point are a conflict, and stay as they are") {
    withRoot { dir =>
      val files = inputs(dir)
      link(dir, files)
      assertThrows[CommitConflictException](optimize(dir, files, ops, LockSettings()))
      assert(rows(dir) == expected)
      assert(files.forall(f => Files.isSymbolicLink(dir.resolve(f.path))))
    }
  }

  test("a link is seen as a link: to a file, to nothing, in the trash, but not to a folder of data") {
    withRoot { dir =>
      val trash = Files.createDirectories(dir.resolve("_zorder/trash/_v0000000001-op"))
      put(dir.resolveSibling("cache").resolve("x"), "rows")
      val links = Seq("file" -> "../cache/x", "nothing" -> "../gone", "folder" -> "../cache").map { case (name, to) =>
        Files.createSymbolicLink(dir.resolve(name), LocalPath.of(to))
      } :+ Files.createSymbolicLink(trash.resolve("y.retired"), LocalPath.of("../cache/x"))
      val found = links.map(l => ops.status(new Path(l.toUri.toString.stripSuffix("/"))).get)
      assert(found.map(_.isLink) == Seq(true, true, false, true))
      assert(found.map(_.isDirectory) == Seq(false, false, true, false))
      assert(ops.list(found(3).path.getParent).map(m => (m.name, m.isLink)) == Seq("y.retired" -> true))
      ops.rename(found(3).path, new Path(dir.resolve("y").toUri))
      assert(Files.readString(dir.resolve("y")) == "rows")
      ops.delete(new Path(dir.resolve("y").toUri))
      assert(!Files.isSymbolicLink(dir.resolve("y")) && Files.exists(dir.resolveSibling("cache").resolve("x")))
    }
  }

  test("a link in the trash is neither read nor written, and one above it is not followed") {
    withRoot { dir =>
      val trash = Files.createDirectories(dir.resolve("_zorder/trash/_v0000000001-op"))
      put(dir.resolveSibling("cache").resolve("x"), "rows")
      val link = Files.createSymbolicLink(trash.resolve("x.retired"), dir.resolveSibling("cache").resolve("x"))
      val path = new Path(link.toUri)
      assertThrows[IOException](ops.read(path, 100))
      assertThrows[IOException](ops.touch(path))
      assertThrows[IOException](ops.writeNew(path, Array[Byte](1)))
      val other = Files.createSymbolicLink(trash.resolveSibling("_v0000000002-op"), dir.resolveSibling("cache"))
      assertThrows[IOException](ops.status(new Path(other.resolve("x").toUri)))
      assertThrows[IOException](ops.deleteRecursive(new Path(other.toUri)))
      ops.deleteRecursive(new Path(trash.toUri))
      assert(Files.readString(dir.resolveSibling("cache").resolve("x")) == "rows")
    }
  }
}
