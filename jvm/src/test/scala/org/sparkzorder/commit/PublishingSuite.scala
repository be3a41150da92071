package org.sparkzorder.commit

import java.io.IOException
import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.LockSettings
import org.sparkzorder.commit.log.History
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.commit.storage.HadoopFileOps

/** The exchange of files on a local disk, in several folders side by side, and of files that are symbolic links. */
class PublishingSuite extends AnyFunSuite with LocalTables {

  /** Counts the rows that are visible while files move. An input has one row, an output all rows of its folder. */
  private final class Watched(inputs: Seq[InputFile]) extends HadoopFileOps(fs) {
    val caller: Thread = Thread.currentThread()
    private val visible = new AtomicLong(inputs.size.toLong)
    val fewest = new AtomicLong(inputs.size.toLong)

    /** Run once, right before the commit point, and whenever a file was retired. */
    @volatile var beforeCommit: () => Unit = () => ()
    @volatile var onRetired: () => Unit = () => ()

    override def status(path: Path): Option[FileMeta] = {
      // The markers are looked at, while the caller waits.
      if (path.getName.startsWith("_exchange-") && Thread.currentThread() != caller) {
        beforeCommit()
        beforeCommit = () => ()
      }
      super.status(path)
    }

    override def rename(src: Path, dst: Path): Unit = {
      super.rename(src, dst)
      if (dst.getName.endsWith(".retired")) {
        val now = visible.decrementAndGet()
        fewest.getAndUpdate(math.min(_, now))
        onRetired()
      }
      if (src.getName.endsWith(".staged") && dst.getName.endsWith(".parquet"))
        visible.addAndGet(inputs.count(_.folder == inputs.head.folder).toLong)
    }
  }

  /** Puts one file in place of all files of each folder. */
  private def optimize(dir: LocalPath, inputs: Seq[InputFile], ops: FileOps): Unit = {
    val made = inputs.groupBy(_.folder).toSeq.sortBy(_._1).map { case (p, in) => s"$p/new-1.parquet" -> in.map(_.path) }
    optimize(TableFolder(path(dir), ops), inputs, made)
  }

  test("an interrupt after the commit point waits until all is published, and is reported afterwards") {
    withRoot { dir =>
      val first = inputs(dir, folders = 20)
      val watched = new Watched(first)
      val interrupted = new AtomicBoolean
      watched.onRetired = () => if (interrupted.compareAndSet(false, true)) watched.caller.interrupt()
      optimize(dir, first, watched)
      assert(interrupted.get && Thread.interrupted())
      assert(History.read(TableFolder(path(dir), ops)).size == 1)
      assert(!all(dir.resolve("_zorder")).exists(f =>
        f.toString.contains("lock-") || f.toString.endsWith(".publishing")
      ))
      assert(data(dir).size == 20 && data(dir).forall(_.getFileName.toString.startsWith("new-")))
    }
  }

  test("an interrupt before the commit point ends the operation, which leaves nothing") {
    withRoot { dir =>
      val first = inputs(dir, folders = 3)
      val before = data(dir)
      val watched = new Watched(first)
      // Gives the caller time to tell.
      watched.beforeCommit = () => { watched.caller.interrupt(); Thread.sleep(300) }
      assertThrows[InterruptedException](optimize(dir, first, watched))
      assert(data(dir) == before && !Files.exists(dir.resolve("p=1/_zorder/staging")))
    }
  }

  test("no row is invisible at any moment, however many folders there are", InRest) {
    withRoot { dir =>
      val first = inputs(dir, folders = 100, files = 10)
      val watched = new Watched(first)
      optimize(dir, first, watched)
      assert(watched.fewest.get == 1000)
      assert(data(dir).size == 100)
    }
  }

  /** The root of a table beside a folder for what links lead to. A relative link leads nowhere once it is moved. */
  private def withCache(test: LocalPath => Unit): Unit = withRoot { dir =>
    put(dir.resolve("cache/x"), "rows")
    test(Files.createDirectories(dir.resolve("t")))
  }

  private def cached(dir: LocalPath, name: String): LocalPath = dir.resolveSibling("cache").resolve(name)

  private def trash(dir: LocalPath): LocalPath = Files.createDirectories(dir.resolve("_zorder/trash/_v0000000001-op"))

  /** Replaces every input, in its place or in the trash, by a link to a file of the same content and time. */
  private def link(dir: LocalPath, inputs: Seq[InputFile]): Unit = inputs.foreach { input =>
    val place = dir.resolve(input.path)
    val kept = cached(dir, input.path.replace('/', '-'))
    val retired = all(place.getParent).filter(_.getFileName.toString == s"${place.getFileName}.retired")
    (place +: retired).filter(Files.exists(_)).foreach { file =>
      Files.move(file, kept)
      Files.createSymbolicLink(file, place.getParent.relativize(kept))
    }
  }

  test("a half published table of links is finished or undone, wherever its owner and its recovery died", InRest) {
    def dies(k: Int): Boolean = Seq(Int.MaxValue, 15, 30).map { recoveryDies =>
      var died = false
      withCache { dir =>
        val liveness = new FakeLiveness
        val settings = LockSettings(beatMillis = 3600000L, liveness = liveness)
        val files = inputs(dir)
        def dying(at: Int) = TableFolder(path(dir), new FailThenDie(ops, Int.MaxValue, at))
        try optimize(dying(k), files, settings = settings)
        catch { case _: Died => died = true }
        liveness.running.clear()
        link(dir, files)
        withClue(s"death at call $k, recovery dies at call $recoveryDies: ") {
          try Recovery.recover(dying(recoveryDies), settings)
          catch { case _: Died => liveness.running.clear() }
          assert(Recovery.settled(TableFolder(path(dir), ops), 1000L, settings).around.isEmpty)
          assert(rows(data(dir)) == expected)
          assert(!all(dir).exists(f => f.toString.contains("lock-") || f.toString.contains("staging")))
        }
      }
      died
    }.last
    assert(Iterator.from(1, 7).takeWhile(dies).size > 7)
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
      val links = Seq("file" -> "../cache/x", "nothing" -> "../gone", "folder" -> "../cache").map { case (name, to) =>
        Files.createSymbolicLink(dir.resolve(name), LocalPath.of(to))
      } :+ Files.createSymbolicLink(trash(dir).resolve("y.retired"), LocalPath.of("../cache/x"))
      val found = links.map(l => ops.status(new Path(l.toUri.toString.stripSuffix("/"))).get)
      assert(found.map(_.isLink) == Seq(true, true, false, true))
      assert(found.map(_.isDirectory) == Seq(false, false, true, false))
      assert(ops.list(found(3).path.getParent).map(m => (m.name, m.isLink)) == Seq("y.retired" -> true))
      val back = dir.resolve("y")
      ops.rename(found(3).path, path(back))
      assert(Files.readString(back) == "rows")
      ops.delete(path(back))
      assert(!Files.isSymbolicLink(back) && Files.exists(cached(dir, "x")))
    }
  }

  test("a link in the trash is neither read nor written, and one above it is not followed") {
    withCache { dir =>
      val link = path(Files.createSymbolicLink(trash(dir).resolve("x.retired"), cached(dir, "x")))
      assertThrows[IOException](ops.read(link, 100))
      assertThrows[IOException](ops.touch(link))
      assertThrows[IOException](ops.writeNew(link, Array[Byte](1)))
      val other = Files.createSymbolicLink(trash(dir).resolveSibling("_v0000000002-op"), dir.resolveSibling("cache"))
      assertThrows[IOException](ops.status(path(other.resolve("x"))))
      assertThrows[IOException](ops.deleteRecursive(path(other)))
      ops.deleteRecursive(path(trash(dir)))
      assert(Files.readString(cached(dir, "x")) == "rows")
    }
  }
}
