package org.sparkzorder.commit

import java.io.IOException
import java.nio.file.{Files, Path => LocalPath}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.machine.Recovery

/** Data files that are relative symbolic links, so that they lead nowhere once they are moved. */
class LinksSuite extends AnyFunSuite with LocalTables {

  /** The root of a table beside a folder for what links lead to. */
  private def withCache(test: LocalPath => Unit): Unit = withRoot { dir =>
    Files.createDirectories(dir.resolve("cache"))
    test(Files.createDirectories(dir.resolve("t")))
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

  test(
    "a table of links that is half published is finished or undone, wherever its owner and its recovery died",
    InRest
  ) {
    var k = 1
    var died = true
    while (died) {
      for (recoveryDies <- Seq(Int.MaxValue, 15, 30)) withCache { dir =>
        val liveness = new FakeLiveness
        val settings = LockSettings(beatMillis = 3600000L, liveness = liveness)
        val files = inputs(dir)
        died =
          try {
            optimize(TableFolder(path(dir), new FailThenDie(ops, Int.MaxValue, k)), files, settings = settings)
            false
          } catch { case _: Died => true }
        liveness.running.clear()
        link(dir, files)
        val folder = TableFolder(path(dir), ops)
        withClue(s"death at call $k, recovery dies at call $recoveryDies: ") {
          try Recovery.recover(folder.copy(ops = new FailThenDie(ops, Int.MaxValue, recoveryDies)), settings)
          catch { case _: Died => liveness.running.clear() }
          assert(Recovery.settled(folder, 1000L, settings).around.isEmpty)
          assert(rows(data(dir)) == expected)
          assert(!all(dir).exists(f => f.toString.contains("lock-") || f.toString.contains("staging")))
        }
      }
      k += 7
    }
    assert(k > 60)
  }

  test("inputs that became links before the commit point are a conflict, and stay as they are") {
    withCache { dir =>
      val files = inputs(dir)
      link(dir, files)
      assertThrows[CommitConflictException](optimize(TableFolder(path(dir), ops), files))
      assert(rows(data(dir)) == expected)
      assert(files.forall(f => Files.isSymbolicLink(dir.resolve(f.path))))
    }
  }

  test("a link is seen as a link: to a file, to nothing, in the trash, but not to a folder of data") {
    withCache { dir =>
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
    withCache { dir =>
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
